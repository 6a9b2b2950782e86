// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"
)

// keepEvents keeps the engine's events of the runs that lose their controller, which logs only what it still reads of them.
// Links have what the engine writes later, too.
func (p *place) keepEvents() error {
	if err := os.MkdirAll(p.kept(), 0o700); err != nil {
		return err
	}
	written, err := filepath.Glob(filepath.Join(p.s.DataDir(), "runs", "*", "events.jsonl"))
	if err != nil {
		return err
	}
	for _, path := range written {
		run := filepath.Base(filepath.Dir(path))
		if err := os.Link(path, filepath.Join(p.kept(), run)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func (p *place) kept() string { return p.s.Path("events") }

// keptCreates returns the names of the things whose creation the engine has started, in runs that lost their controller.
func (r *round) keptCreates() (names []string) {
	runs, err := filepath.Glob(filepath.Join(r.place.kept(), "*"))
	r.Expect(err).NotTo(HaveOccurred())
	for _, run := range runs {
		text, err := os.ReadFile(run)
		r.Expect(err).NotTo(HaveOccurred())
		for line := range strings.Lines(string(text)) {
			if urn := createIn(line); strings.Contains(urn, "::"+r.name+"::") {
				names = append(names, nameOf(urn))
			}
		}
	}
	return names
}

// createIn returns the URN if the event is the beginning of a creation. The engine may have been killed while it wrote it.
func createIn(line string) string {
	var event struct {
		ResourcePreEvent struct{ Metadata struct{ Op, URN string } }
	}
	if json.Unmarshal([]byte(line), &event) != nil || event.ResourcePreEvent.Metadata.Op != "create" {
		return ""
	}
	return event.ResourcePreEvent.Metadata.URN
}
