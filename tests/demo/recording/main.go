// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command recording writes what a program prints as an animated picture, for a page that
// cannot run it. The pauses are those of the program, as far as a person has patience:
//
//	go run ./tests/demo/recording docs/pictures/demo.svg make demo
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// maxLines is far more than anyone watches.
const maxLines = 1000

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// run writes nothing if the command fails.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("usage: recording FILE COMMAND [ARGUMENT]")
	}
	command := exec.CommandContext(ctx, args[1], args[2:]...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Stderr = os.Stderr
	in, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	lines, err := record(in, out, time.Now)
	_, _ = io.Copy(out, in) // what record refused to read
	if err := errors.Join(err, command.Wait()); err != nil {
		return fmt.Errorf("recording %s: %w", args[1], err)
	}
	return os.WriteFile(args[0], []byte(render(paced(lines))), 0o644)
}

// record passes on what it reads, and returns the lines from the first title to the last
// one of the program itself.
func record(in io.Reader, out io.Writer, now func() time.Time) ([]line, error) {
	var lines []line
	var began time.Time
	scanner := bufio.NewScanner(in)
	for scanner.Scan() {
		_, _ = fmt.Fprintln(out, scanner.Text())
		text := expanded(scanner.Text())
		if len(lines) == 0 {
			if !strings.HasPrefix(text, title) {
				continue
			}
			began = now()
		}
		if len(lines) == maxLines {
			return nil, fmt.Errorf("more than %d lines", maxLines)
		}
		lines = append(lines, line{text: text, at: now().Sub(began)})
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("no line begins with %q", title)
	}
	return lines, scanner.Err()
}

// expanded replaces tabs as a terminal does.
func expanded(text string) string {
	var made strings.Builder
	column := 0
	for _, r := range text {
		width := 1
		if r == '\t' {
			width = 8 - column%8
			made.WriteString(strings.Repeat(" ", width))
		} else {
			made.WriteRune(r)
		}
		column += width
	}
	return strings.TrimRight(made.String(), " ")
}
