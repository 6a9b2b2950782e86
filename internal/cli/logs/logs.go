// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package logs turns the logs of the controller and of runs into the lines that the flux
// command prints. It must not know where a log comes from.
package logs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxLine bounds a line of the log. Longer lines are skipped.
const maxLine = 1 << 20

// timestamps is how Flux controllers format the time of a line.
const timestamps = "2006-01-02T15:04:05.000Z07:00"

// Filter selects the lines to print. An empty field matches all.
type Filter struct {
	// Kinds of the object in the line.
	Kinds []string
	// Name and Namespace of the object.
	Name, Namespace string
	// Level of the line.
	Level string
}

// entry is a line of the log of a Flux controller.
type entry struct {
	Timestamp      string `json:"ts"`
	Level          string `json:"level"`
	Message        string `json:"msg"`
	Error          string `json:"error"`
	ReconcilerKind string `json:"reconciler kind"`
	ControllerKind string `json:"controllerKind"`
	Name           string `json:"name"`
	Namespace      string `json:"namespace"`
	Run            string `json:"run"`
}

// Copy prints the lines that match the filter until the log ends. It skips lines that are
// not JSON: they do not come from the controller.
func Copy(out io.Writer, log io.Reader, filter Filter) error {
	return each(log, func(line []byte) error {
		text := filter.format(line)
		if text == "" {
			return nil
		}
		if _, err := io.WriteString(out, text); err != nil {
			return fmt.Errorf("printing the log: %w", err)
		}
		return nil
	})
}

// OfRun passes on the lines of a run until the log ends.
func OfRun(log io.Reader, id string, add func(run.LogLine)) error {
	return each(log, func(line []byte) error {
		var e entry
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Run != id {
			return nil
		}
		at, err := time.Parse(time.RFC3339, e.Timestamp)
		if err == nil {
			add(run.LogLine{At: at, Text: e.Message})
		}
		return nil
	})
}

// each calls do with each line until the log ends, but not with those that are too long.
func each(log io.Reader, do func(line []byte) error) error {
	reader := bufio.NewReaderSize(log, maxLine)
	for {
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if err = skipLine(reader); err == nil {
				continue
			}
		}
		if err := do(line); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
	}
}

// Print prints the lines of a run of the Stack that match the filter. Runs log everything as
// info.
func Print(out io.Writer, stack metav1.Object, lines []run.LogLine, filter Filter) error {
	for _, line := range lines {
		text := filter.formatEntry(entry{
			Timestamp: line.At.UTC().Format(timestamps), Level: "info", Message: line.Text,
			ControllerKind: v1.StackKind, Namespace: stack.GetNamespace(), Name: stack.GetName(),
		})
		if _, err := io.WriteString(out, text); err != nil {
			return fmt.Errorf("printing the log: %w", err)
		}
	}
	return nil
}

// skipLine skips the rest of a line that is too long.
func skipLine(reader *bufio.Reader) error {
	for {
		_, err := reader.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// format returns the line to print, or "" if it does not match.
func (f Filter) format(line []byte) string {
	var e entry
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil {
		return ""
	}
	return f.formatEntry(e)
}

func (f Filter) formatEntry(e entry) string {
	kind := e.ReconcilerKind
	if kind == "" {
		kind = e.ControllerKind
	}
	isKind := func(wanted string) bool { return strings.EqualFold(wanted, kind) }
	if len(f.Kinds) > 0 && !slices.ContainsFunc(f.Kinds, isKind) ||
		f.Name != "" && f.Name != e.Name || f.Namespace != "" && f.Namespace != e.Namespace || f.Level != "" && f.Level != e.Level {
		return ""
	}
	object := kind
	if e.Name != "" {
		object += "/" + e.Name + "." + e.Namespace
	}
	return table.Visible(fmt.Sprintf("%s %s %s - %s %s", e.Timestamp, e.Level, object, e.Message, e.Error)) + "\n"
}
