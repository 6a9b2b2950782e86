// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Only a program in Pulumi YAML reads JSON, and only where it declares a string.
func TestWhichTextsAreWrittenAsJSON(t *testing.T) {
	const (
		asItIs  = `123456789012`
		quoted  = `"123456789012"`
		project = "name: demo\nruntime: yaml\n"
	)
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a string":                          {map[string]string{"Pulumi.yaml": project + "config: {a: {type: string}}\n"}, quoted},
		"a string of Main.yaml":             {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {a: {type: String}}\n"}, quoted},
		"a string of Main.json":             {map[string]string{"Pulumi.yaml": project, "Main.json": `{"config": {"a": {"type": "string"}}}`, "Main.yaml": "{}"}, quoted},
		"a string in another directory":     {map[string]string{"Pulumi.yaml": project + "main: sub\n", "sub/Main.yaml": "config: {a: {type: string}}\n"}, quoted},
		"a string of the Pulumi.yaml":       {map[string]string{"Pulumi.yaml": project + "config: {a: {type: string}}\n", "Main.yaml": "outputs: {o: '${a}'}\n"}, quoted},
		"a string with the project":         {map[string]string{"Pulumi.yaml": project + "config: {'demo:a': {type: string}}\n", "Main.yaml": "outputs: {o: '${a}'}\n"}, quoted},
		"a string of the older section":     {map[string]string{"Pulumi.yaml": project, "Main.yaml": "configuration: {a: {type: string}}\n"}, quoted},
		"a default that is a string":        {map[string]string{"Pulumi.yaml": project + "config: {a: {default: x}}\n"}, quoted},
		"a short default of the project":    {map[string]string{"Pulumi.yaml": project + "config: {a: x}\n", "Main.yaml": "{}"}, quoted},
		"a default with a reference in it":  {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {a: {default: 'x-${pulumi.stack}'}}\n"}, quoted},
		"a default that is a reference":     {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {a: {default: '${b}'}}\n"}, asItIs},
		"a default that is a number":        {map[string]string{"Pulumi.yaml": project + "config: {a: {default: 5}}\n"}, asItIs},
		"a number":                          {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {a: {type: Number}}\n"}, asItIs},
		"a string and a number":             {map[string]string{"Pulumi.yaml": project + "config: {a: {type: string}}\n", "Main.yaml": "config: {a: {type: Number}}\n"}, asItIs},
		"a string under another name":       {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {b: {type: string, name: a}}\n"}, asItIs},
		"a string under both names":         {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {a: {type: string}, b: {type: string, name: a}}\n"}, asItIs},
		"a string by the full name":         {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {'demo:a': {type: string}}\n"}, asItIs},
		"what is not declared":              {map[string]string{"Pulumi.yaml": project}, asItIs},
		"an empty declaration":              {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {a: {}}\n"}, asItIs},
		"what is no declaration":            {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: {a: [x]}\n"}, asItIs},
		"what is no YAML":                   {map[string]string{"Pulumi.yaml": project, "Main.yaml": "config: ["}, asItIs},
		"a string of another runtime":       {map[string]string{"Pulumi.yaml": "name: demo\nruntime: nodejs\nconfig: {a: {type: string}}\n"}, asItIs},
		"a string of a compiled program":    {map[string]string{"Pulumi.yaml": "name: demo\nruntime: {name: yaml, options: {compiler: cue}}\nconfig: {a: {type: string}}\n"}, asItIs},
		"a string of a project in JSON":     {map[string]string{"Pulumi.json": `{"name": "demo", "runtime": "yaml", "config": {"a": {"type": "string"}}}`, "Pulumi.yaml": "config: {a: {type: string}}\n"}, quoted},
		"the values of Pulumi.<stack>.yaml": {map[string]string{"Pulumi.yaml": project + "config: {a: {type: string}, b: {type: string}}\n", "Pulumi.dev.yaml": "config: {b: '5'}\n"}, quoted},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := testDirectory(t)
			writeTree(t, dir.Workspace(), test.files)
			r := artifactRun("/")
			r.Operation, r.Options.RunProgram = run.Destroy, true // an update of nothing is refused
			r.Config = map[string]json.RawMessage{"demo:a": jsonString(asItIs), "aws:a": jsonString(asItIs)}
			_, err := (&Driver{Cache: t.TempDir()}).prepare(t.Context(), dir, r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Config["demo:a"]).To(MatchJSON(jsonString(asItIs)), "the run is not changed")
			want := map[string]any{"demo:a": test.want, "aws:a": asItIs}
			if _, ok := test.files["Pulumi.dev.yaml"]; ok {
				want["demo:b"] = "5" // as it is
			}
			file := "Pulumi.dev.yaml"
			if _, ok := test.files["Pulumi.json"]; ok {
				file = "Pulumi.dev.json"
			}
			text, err := os.ReadFile(filepath.Join(dir.Workspace(), file))
			g.Expect(err).NotTo(HaveOccurred())
			settings, err := json.Marshal(map[string]any{"config": want})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(text).To(MatchYAML(settings))
		})
	}
}

func TestTextsForPulumiYAML(t *testing.T) {
	for raw, want := range map[string]string{
		`"plain"`: `"plain"`, `"007"`: `"007"`, `""`: `""`, `"0x10"`: `"0x10"`,
		`"5"`: `"\"5\""`, `5`: `"\"5\""`, `1.5`: `"\"1.5\""`, `true`: `"\"true\""`, `"0.1"`: `"\"0.1\""`, `"t"`: `"\"t\""`, `"null"`: `"\"null\""`,
		`"{\"a\":\"b\"}"`: `"{\"a\":\"b\"}"`, `"[1]"`: `"[1]"`, `"5\n"`: `"\"5\\n\""`,
		`"\"5\""`: `"\"5\""`, `"\"5\"\n"`: `"\"5\"\n"`, `"\"open"`: `"\"open"`,
		`{"a":"5"}`: `{"a":"5"}`, `["5"]`: `["5"]`, `null`: `null`, `nonsense`: `nonsense`,
	} {
		NewWithT(t).Expect(string(textOfConfig(json.RawMessage(raw)))).To(Equal(want), raw)
	}
}
