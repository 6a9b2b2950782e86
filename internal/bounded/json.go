// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package bounded keeps what comes from elsewhere small: texts before they become part of
// a message, and values in compressed JSON, which it reads back even if others may
// have written it. It checks bounds before it decodes anything: a few KiB can unpack to
// gigabytes. It must not know what the texts say, as their secrets are masked before, nor
// what the values are or where they are stored.
package bounded

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Size is the size of packed JSON, or a bound for it.
type Size struct {
	// Data and Text are its packed and unpacked size in bytes.
	Data, Text int
	// Members counts the members of all lists and objects at any depth: one for each
	// comma, and each opening of a list or object, outside of strings. They determine the
	// memory for decoding: three bytes of text make a whole resource.
	Members int
}

// Fits reports whether the size is within the bounds.
func (s Size) Fits(most Size) bool {
	return s.Data <= most.Data && s.Text <= most.Text && s.Members <= most.Members
}

// Pack packs a value. The result is deterministic.
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
	_, _ = measured.Write(text) // cannot fail, as the bounds are the length of the text
	return out.Bytes(), Size{Data: out.Len(), Text: len(text), Members: measured.members}, nil
}

// Unpack reads packed data within the bounds. It measures while unpacking, and keeps
// nothing until the data is known to fit.
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
		// The decoder's error may quote the text, so it is left out.
		return errors.New("it is not the expected JSON")
	}
	return nil
}

// meter measures the JSON that is written to it, and fails beyond its bounds.
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
