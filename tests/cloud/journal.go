// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The operations of the cloud.
const (
	Create = "create"
	Read   = "read"
	Update = "update"
	Delete = "delete"
)

// The phases of an operation. It starts with Begin and ends with one of the others, or with none if its provider was killed.
const (
	Begin = "begin"
	// Done means that the change was made in the cloud, even if the entry has an Error that was returned to the engine.
	Done = "done"
	// Failed means that the operation returned an error and changed nothing.
	Failed = "failed"
	// Cancelled means that the engine ended a hanging operation, which changed nothing.
	Cancelled = "cancelled"
)

// Entry is one line of the journal.
type Entry struct {
	Time  time.Time `json:"time"`
	PID   int       `json:"pid"`
	Op    string    `json:"op"`
	Phase string    `json:"phase"`
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	URN   string    `json:"urn"`
	Error string    `json:"error"`
}

// Journal returns all entries in the order they were recorded. It skips lines cut short by a provider killed in mid-write; any
// other unreadable line is an error.
func (c *Cloud) Journal() ([]Entry, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "journal.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal of %s: %w", c.dir, err)
	}
	var entries []Entry
	for number, line := range bytes.Split(text, []byte{'\n'}) {
		entry, err := parseEntry(line)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			continue // an empty line, or one cut short
		}
		if err != nil {
			return nil, fmt.Errorf("reading line %d of the journal of %s: %w", number+1, c.dir, err)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// parseEntry parses one line. The error is io.EOF for an empty line and io.ErrUnexpectedEOF for a truncated one.
func parseEntry(line []byte) (Entry, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	var entry Entry
	if err := decoder.Decode(&entry); err != nil {
		return Entry{}, err
	}
	if decoder.More() {
		return Entry{}, errors.New("more than one entry in the line")
	}
	return entry, nil
}
