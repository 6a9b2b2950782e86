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

// The phases of an operation. It begins with Begin and ends with one of the others, or with none if its provider was killed.
const (
	Begin = "begin"
	// Done: the change was made in the cloud. With an Error the engine was told of that error all the same.
	Done = "done"
	// Failed: the operation ended with an error and changed nothing.
	Failed = "failed"
	// Cancelled: a hanging operation was ended by the engine and changed nothing.
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

// Journal gives all entries in the order they were recorded. A line that was cut short, because its provider was killed in
// mid-write, is left out; any other line that cannot be read is an error.
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

// parseEntry reads one line. The error is io.EOF for an empty one and io.ErrUnexpectedEOF for the beginning of one.
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
