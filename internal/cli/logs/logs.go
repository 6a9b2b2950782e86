// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package logs turns the log of the controller into the lines that the flux command
// prints: text in, text out. It must not know where the log comes from.
package logs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// maxLine bounds a line of the log. Longer lines are skipped.
const maxLine = 1 << 20

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
}

// Copy prints the lines that match the filter until the log ends. It skips lines that are
// not JSON: they do not come from the controller.
func Copy(out io.Writer, log io.Reader, filter Filter) error {
	reader := bufio.NewReaderSize(log, maxLine)
	for {
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if err = skipLine(reader); err == nil {
				continue
			}
		}
		if text := filter.format(line); text != "" {
			if _, err := io.WriteString(out, text); err != nil {
				return fmt.Errorf("printing the log: %w", err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
	}
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
