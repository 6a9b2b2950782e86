// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package packed makes compressed JSON of values, and reads it where somebody else may
// have written it. What is read is bounded before anything is made of it: a few KiB can
// be unpacked to what takes gigabytes. It must not know what the values are, or where
// they are kept.
package packed

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Size is how large packed JSON is, or may be.
type Size struct {
	// Data and Text are the bytes of it packed and unpacked.
	Data, Text int
	// Members bounds those of all lists and objects together, how deep ever they are: each
	// comma and each opening of a list or an object outside of texts may be one. It is
	// these that memory is taken for: three bytes of text make a whole resource.
	Members int
}

// Fits tells whether something of that size may be in what has these bounds.
func (s Size) Fits(most Size) bool {
	return s.Data <= most.Data && s.Text <= most.Text && s.Members <= most.Members
}

// Pack packs a value, the same in the same way each time.
func Pack(value any) ([]byte, Size, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, Size{}, err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		return nil, Size{}, err
	}
	if err := zip.Close(); err != nil {
		return nil, Size{}, err
	}
	measured := meter{most: Size{Text: len(text), Members: len(text)}}
	_, _ = measured.Write(text) // it has no more than its length of anything
	return out.Bytes(), Size{Data: out.Len(), Text: len(text), Members: measured.members}, nil
}

// Unpack reads what was packed, unless it is larger than that. It is measured while it is
// unpacked, and nothing of it is kept until it is known to fit.
func Unpack(data []byte, most Size, into any) error {
	if len(data) > most.Data {
		return fmt.Errorf("it has more than %d bytes", most.Data)
	}
	source := bytes.NewReader(data)
	zip, err := gzip.NewReader(source)
	if err != nil {
		return fmt.Errorf("unpacking it: %w", err)
	}
	measured := meter{most: most}
	if _, err := io.Copy(&measured, zip); err != nil {
		return fmt.Errorf("unpacking it: %w", err)
	}
	source.Reset(data)
	if err := zip.Reset(source); err != nil {
		return fmt.Errorf("unpacking it: %w", err)
	}
	text := make([]byte, measured.text)
	if _, err := io.ReadFull(zip, text); err != nil {
		return fmt.Errorf("unpacking it: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		// Its words may have some of the text in them.
		return errors.New("it is not the JSON that it should be")
	}
	return nil
}

// meter measures the JSON that is written to it, and takes no more than that.
type meter struct {
	most            Size
	text, members   int
	quoted, escaped bool
}

func (m *meter) Write(text []byte) (int, error) {
	if m.text += len(text); m.text > m.most.Text {
		return 0, fmt.Errorf("it has more than %d bytes when it is unpacked", m.most.Text)
	}
	for _, c := range text {
		switch {
		case m.escaped:
			m.escaped = false
		case m.quoted && c == '\\':
			m.escaped = true
		case c == '"':
			m.quoted = !m.quoted
		case !m.quoted && (c == ',' || c == '[' || c == '{'):
			m.members++
		}
	}
	if m.members > m.most.Members {
		return 0, fmt.Errorf("its lists and objects have more than %d members", m.most.Members)
	}
	return len(text), nil
}
