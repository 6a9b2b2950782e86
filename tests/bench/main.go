// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench compares Stacks with bare Pulumi: the same stacks are brought
// up, and then updated, once by the Pulumi CLI alone and once by the controller,
// in turns on the same machine. Then it looks at what the controller costs with
// many Stacks in sync, and how soon a run starts when there is something to do.
// The third part compares programs in TypeScript and Go, with their dependencies.
// It measures and prints; it judges nothing, so its result is never a test.
//
// docs/benchmarks.md says what is measured and how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/flux-pulumi/pulumi-controller/internal/readonly"
)

// options are the settings of the benchmark.
type options struct {
	stacks   int
	parallel int
	rounds   int
	scale    []int
	samples  int
	// awaited are the Stacks whose plan waits.
	awaited         int
	waitingInterval time.Duration
	// languages are those of programs to compare.
	languages      []string
	languageRounds int
	languageStacks int
	idle           time.Duration
	quiet          time.Duration
	timeout        time.Duration
}

func main() {
	if filepath.Base(os.Args[0]) == cliName {
		// Started in place of the CLI, see recorder.go.
		os.Exit(recordCLI(os.Args))
	}
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	// Parts of the system would log for want of a logger. Errors are returned.
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err = run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parse reads the flags.
func parse(args []string) (options, error) {
	o := options{scale: []int{100, 300, 1000}, languages: []string{typeScript, golang}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.stacks, "stacks", 20, "how many stacks")
	flags.IntVar(&o.parallel, "parallel", 4, "how many Pulumi runs at a time, on both sides")
	flags.IntVar(&o.rounds, "rounds", 3, "how many times each side is timed; 0 leaves the comparison out")
	flags.Func("scale", "how many Stacks in sync to look at the controller with, one `number` after the other; empty leaves that out (default 100,300,1000)",
		func(text string) (err error) {
			o.scale, err = parseScale(text)
			return err
		})
	flags.IntVar(&o.samples, "samples", 40, "how many times each latency is measured")
	flags.IntVar(&o.awaited, "waiting", 0, "how many Stacks whose plan waits for an approval to watch the controller with")
	flags.DurationVar(&o.waitingInterval, "waiting-interval", 5*time.Minute, "interval of those Stacks")
	flags.Func("languages", "programs in what languages to compare, one `name` after the other; empty leaves that out (default typescript,go)",
		func(text string) (err error) {
			o.languages, err = parseLanguages(text)
			return err
		})
	flags.IntVar(&o.languageRounds, "language-rounds", 3, "how many times each act but the first run is timed with a program in a language")
	flags.IntVar(&o.languageStacks, "language-stacks", 10, "how many new stacks at once have a program in a language")
	flags.DurationVar(&o.idle, "idle", time.Minute, "how long to watch the controller with nothing to do")
	flags.DurationVar(&o.quiet, "quiet", time.Minute, "how long to wait for a quiet machine before what is timed")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long each phase may take")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	return o, o.validate()
}

// maxScale is how many Stacks were tried.
const maxScale = 20_000

// parseScale reads numbers of Stacks, such as 100,300.
func parseScale(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var scale []int
	for number := range strings.SplitSeq(text, ",") {
		stacks, err := strconv.Atoi(number)
		if err != nil || stacks < 1 || stacks > maxScale {
			return nil, fmt.Errorf("%q is not a number from 1 to %d", number, maxScale)
		}
		if slices.Contains(scale, stacks) {
			return nil, fmt.Errorf("%d is there twice", stacks)
		}
		scale = append(scale, stacks)
	}
	return scale, nil
}

// parseLanguages reads names of languages, such as typescript,go.
func parseLanguages(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var languages []string
	for name := range strings.SplitSeq(text, ",") {
		if name != typeScript && name != golang {
			return nil, fmt.Errorf("%q is neither %s nor %s", name, typeScript, golang)
		}
		if slices.Contains(languages, name) {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		languages = append(languages, name)
	}
	return languages, nil
}

func (o options) validate() error {
	switch {
	case o.stacks < 1 || o.stacks > 1000:
		return fmt.Errorf("--stacks must be from 1 to 1000, not %d", o.stacks)
	case o.parallel < 1 || o.parallel > 64:
		return fmt.Errorf("--parallel must be from 1 to 64, not %d", o.parallel)
	case o.rounds < 0 || o.rounds > 100:
		return fmt.Errorf("--rounds must be from 0 to 100, not %d", o.rounds)
	case o.samples < 1 || o.samples > 500:
		return fmt.Errorf("--samples must be from 1 to 500, not %d", o.samples)
	case o.awaited < 0 || o.awaited > 1000:
		return fmt.Errorf("--waiting must be from 0 to 1000, not %d", o.awaited)
	case o.languageRounds < 1 || o.languageRounds > 100:
		return fmt.Errorf("--language-rounds must be from 1 to 100, not %d", o.languageRounds)
	case o.languageStacks < 1 || o.languageStacks > 100:
		return fmt.Errorf("--language-stacks must be from 1 to 100, not %d", o.languageStacks)
	case o.idle < 5*time.Second:
		return fmt.Errorf("--idle must be at least 5s, not %s", o.idle)
	case o.timeout <= 0:
		return fmt.Errorf("--timeout must be above zero, not %s", o.timeout)
	}
	return nil
}

// run measures in its own directory, and removes it with all processes at the end.
func run(ctx context.Context, o options) (err error) {
	if err := adoptOrphans(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pulumi-bench-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, readonly.RemoveAll(dir)) }()

	// Progress goes to standard error, so that standard output is the report.
	b := &bench{options: o, dir: dir, say: func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}}
	report, err := b.measure(ctx)
	if ctx.Err() != nil {
		// A failure after an interrupt is caused by it.
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	fmt.Print(report.markdown())
	return nil
}
