// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// FuzzConfigValue: a value of the spec keeps its value and type in the stack settings
// written for Pulumi.
func FuzzConfigValue(f *testing.F) {
	for _, seed := range []string{
		`"5"`, `5`, `-0`, `1.0`, `1e3`, `0.1`, `123456789012345678901234567890`, `"yes"`, `"0x10"`, `"~"`, `"1e3"`, `true`, `"true"`,
		`"2026-01-01"`, `" a"`, `"a\nb"`, `"\u0085"`, `{"a":[1,"1",null,1.5]}`, `[]`, `"{}"`, `"1_000"`, `"0o7"`, `".inf"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		// Pulumi takes an object with this key for an encrypted value.
		if !json.Valid(raw) || bytes.Contains(raw, []byte("secure")) {
			return
		}
		settings := &workspace.ProjectStack{Config: make(config.Map)}
		if err := mergeConfig(settings, "demo", map[string]json.RawMessage{"x": raw}); err != nil {
			return
		}
		key := config.MustMakeKey("demo", "x")
		written, err := encoding.YAML.Marshal(settings)
		if err != nil {
			return // rejected with an error
		}
		read, err := parseStackFile(&workspace.Project{Name: "demo"}, "Pulumi.dev.yaml", written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		want, got := settings.Config[key], read.Config[key]
		if configText(t, want) != configText(t, got) || want.Object() != got.Object() {
			t.Errorf("%s became %s\n%s", configText(t, want), configText(t, got), written)
		}
	})
}

// configText is the value as the program gets it.
func configText(t *testing.T, value config.Value) string {
	text, err := value.Value(config.NopDecrypter)
	if err != nil {
		t.Fatal(err)
	}
	if !value.Object() && text == "-0" {
		return "0" // the same number
	}
	if !value.Object() {
		return text
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var object any
	if err := decoder.Decode(&object); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// FuzzProgramFiles prepares the workspace of a program with arbitrary Pulumi.yaml and
// stack settings. Nothing outside the workspace may be created or changed, and only a
// project with a name and a runtime is accepted.
func FuzzProgramFiles(f *testing.F) {
	f.Add("name: demo\nruntime: yaml\n", "config: {a: 1}\n", ".")
	f.Add("name: demo\nruntime: yaml\nstackConfigDir: ../..\n", "", "infra")
	f.Add("name: demo\nruntime: {name: nodejs, options: {a: b}}\nstackConfigDir: /etc\n", "config: [", "..")
	f.Add("name: demo\n", "secretsprovider: passphrase\nencryptionsalt: v1:a:b\n", "/a//b/../c")
	f.Fuzz(func(t *testing.T, projectFile, stackSettings, dir string) {
		outside := t.TempDir()
		workspaceDir := filepath.Join(outside, "run", "workspace")
		if err := os.MkdirAll(filepath.Join(workspaceDir, "infra"), 0o700); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(workspaceDir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = root.Close() }()
		for _, at := range []string{".", "infra"} {
			put(t, filepath.Join(workspaceDir, at, "Pulumi.yaml"), projectFile)
			put(t, filepath.Join(workspaceDir, at, "Pulumi.dev.yaml"), stackSettings)
		}
		place, err := loadProject(root, dir)
		if err == nil {
			if place.project.Runtime.Name() == "" || place.project.Name == "" {
				t.Errorf("a project without a name or a runtime: %q", projectFile)
			}
			r := run.Run{Config: map[string]json.RawMessage{"a": json.RawMessage(`1`)}}
			_, _ = writeStackFile(t.Context(), root, place, "dev", r)
		}
		err = filepath.WalkDir(outside, func(path string, _ fs.DirEntry, err error) error {
			above := path == outside || path == filepath.Dir(workspaceDir) || path == workspaceDir
			if !above && !strings.HasPrefix(path, workspaceDir+"/") {
				t.Errorf("%s was made", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func put(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzLines: the lines do not depend on how the stream is split.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbc\n\nd"), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, text, sizes []byte) {
		var got [][]byte
		var l lines
		rest := text
		for i := 0; len(rest) > 0; i++ {
			n := len(rest)
			if i < len(sizes) {
				n = min(n, int(sizes[i]))
			}
			l.feed(rest[:n], func(line []byte) { got = append(got, bytes.Clone(line)) }, func() { t.Error("too long") })
			rest = rest[n:]
		}
		want := bytes.Split(text, []byte("\n"))
		want = want[:len(want)-1] // the last line is not complete
		if !bytes.Equal(bytes.Join(got, []byte("\n")), bytes.Join(want, []byte("\n"))) || len(got) != len(want) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
