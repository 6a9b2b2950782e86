// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// FuzzResult: a stored result is read back unchanged, and anything else in its place
// never counts as a success, unless it says so.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"Outcome":"Succeeded","Outputs":{"a":{"b":[1.0,"x"]}},"StartedAt":"2026-01-01T00:00:00Z","EndedAt":"2026-01-01T00:00:01Z"}`,
		`{"Outcome":"Failed","Message":"a\u2028b","Interrupted":true,"UnknownCreates":["urn:a"]}`, `null`, `{}`, `[]`, ``, `{"Outcome":`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, resultFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := readResult(dir)
		if err != nil {
			return
		}
		var said map[string]json.RawMessage
		if json.Unmarshal(text, &said) != nil || (read.Outcome == run.Succeeded && len(said) == 0) {
			t.Errorf("%q is %+v", text, read)
		}
		if err := writeResult(dir, *read); err != nil {
			t.Skip("a time or a text that JSON cannot have")
		}
		again, err := readResult(dir)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := json.Marshal(read)
		second, _ := json.Marshal(again)
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s became %s", first, second)
		}
	})
}
