// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	cliName      = "pulumi"
	languageHost = "pulumi-language-yaml"
	// recorderFile is beside what stands for the CLI and tells it what to do: the
	// environment of a run is the controller's alone.
	recorderFile = "recorder.json"
)

// recorder is a directory with stand-ins for the CLI and the language host, which record
// that they were started and run the real ones. That costs another process each, so
// nothing is timed through it.
type recorder struct {
	dir string
	recorderSettings
}

type recorderSettings struct {
	// CLI is the real one.
	CLI string `json:"cli"`
	// Log gets a line per process.
	Log string `json:"log"`
}

// newRecorder creates the directory. This program itself stands in for the CLI, since
// only a parent learns how large a process was; for the language host a line of shell is
// enough. That lies beside the CLI which runs, as in the image: Pulumi warns of one that it
// finds on PATH only.
func newRecorder(dir, cli string) (*recorder, error) {
	beside := filepath.Join(dir, "real")
	r := &recorder{dir: dir, recorderSettings: recorderSettings{
		CLI: filepath.Join(beside, cliName), Log: filepath.Join(dir, "processes.jsonl"),
	}}
	if err := r.write(cli, beside); err != nil {
		return nil, fmt.Errorf("making the recorder: %w", err)
	}
	return r, nil
}

func (r *recorder) write(cli, beside string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := json.Marshal(r.recorderSettings)
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\necho '{\"program\":\"%s\"}' >>'%s'\nexec '%s' \"$@\"\n",
		languageHost, r.Log, filepath.Join(filepath.Dir(cli), languageHost))
	return errors.Join(
		os.MkdirAll(beside, 0o700),
		os.Symlink(self, filepath.Join(r.dir, cliName)),
		os.WriteFile(filepath.Join(r.dir, recorderFile), text, 0o600),
		os.WriteFile(filepath.Join(beside, languageHost), []byte(script), 0o700),
		linkOrCopy(cli, r.CLI),
	)
}

// linkOrCopy gives a program another place. A symbolic link would not do: Pulumi looks for
// plugins beside the file that it leads to.
func linkOrCopy(program, to string) error {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return err
	}
	if os.Link(program, to) == nil {
		return nil
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o700)
}

// take returns the records since the last call.
func (r *recorder) take() ([]processRecord, error) {
	text, err := os.ReadFile(r.Log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was recorded: %w", err)
	}
	if err := os.Remove(r.Log); err != nil {
		return nil, fmt.Errorf("removing what was recorded: %w", err)
	}
	return parseRecords(text)
}

// parseRecords parses one record per line.
func parseRecords(text []byte) ([]processRecord, error) {
	var records []processRecord
	for scanner := bufio.NewScanner(bytes.NewReader(text)); scanner.Scan(); {
		var record processRecord
		if err := json.Unmarshal(scanner.Bytes(), &record); err != nil {
			return nil, fmt.Errorf("reading what was recorded, line %d: %w", len(records)+1, err)
		}
		records = append(records, record)
	}
	return records, nil
}

// recordCLI runs and records the real CLI, and returns its exit status.
func recordCLI(args []string) int {
	status, err := runRecorded(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		return 255
	}
	return status
}

func runRecorded(args []string) (int, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(args[0]), recorderFile))
	if err != nil {
		return 0, err
	}
	var to recorderSettings
	if err := json.Unmarshal(text, &to); err != nil {
		return 0, err
	}
	cmd := exec.Command(to.CLI, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	record := processRecord{Program: cliName, Command: commandOf(args[1:]), Settings: tuning(os.Environ()), Started: time.Now()}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return 0, err
	}
	record.Ended = time.Now()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		record.PeakBytes = usage.Maxrss << 10 // Linux counts in kilobytes
	}
	return cmd.ProcessState.ExitCode(), appendRecord(to.Log, record)
}

// appendRecord writes the line in one call, so that lines of concurrent processes do not
// mix.
func appendRecord(log string, record processRecord) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// commandOf returns the command with its subcommand, if any, without flags and their
// values.
func commandOf(args []string) string {
	var words []string
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
			continue
		}
		if len(words) > 0 {
			break
		}
	}
	return strings.Join(words, " ")
}

// tuning picks what tunes the CLI from an environment. Left out are the secret,
// and what has to differ: where things are, and the controller's own mark and
// stream of events.
func tuning(environment []string) map[string]string {
	differs := map[string]bool{
		"PULUMI_CONFIG_PASSPHRASE": true, "PULUMI_BACKEND_URL": true, "PULUMI_HOME": true,
		"PULUMI_CONTROLLER_RUN": true, "PULUMI_DEBUG_COMMANDS": true,
	}
	settings := map[string]string{}
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		tunes := strings.HasPrefix(name, "PULUMI_") || name == "PATH" || name == "LANG" || name == "NO_COLOR" || strings.HasPrefix(name, "GO")
		if tunes && !differs[name] {
			settings[name] = value
		}
	}
	return settings
}
