// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Pulumi YAML resolves the name to the config value, as the first case would show
// without the check.
func TestConfigByTheNameOfAResourceDeletesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	text := l.thing("value: x") + "variables: {v: x}\noutputs: {o: \"${v}\"}\n"
	l.given(text)
	l.Expect(l.things()).To(Equal(1))
	one := json.RawMessage(`"x"`)
	for name, test := range map[string]struct {
		change func(*run.Run)
		want   string
	}{
		"plain": {func(r *run.Run) { r.Config = map[string]json.RawMessage{"a": one} },
			`config key "demo:a" is also the name of a resource of the program: Pulumi YAML would use the config value instead and delete the resource. Rename one of the two`},
		"with the project": {func(r *run.Run) { r.Config = map[string]json.RawMessage{"demo:a": one} }, `config key "demo:a" is also the name of a resource`},
		"secret":           {func(r *run.Run) { r.Secrets = map[string]string{"a": "x"} }, `config key "demo:a" is also the name of a resource`},
		"that only the CLI encrypts": {func(r *run.Run) {
			r.Secrets, r.SecretsProvider = map[string]string{"demo:config:a": "x"}, "awskms://k"
		}, `config key "demo:a" is also the name of a resource`},
		"of the Program": {func(r *run.Run) { r.Program.Config = map[string]any{"demo:a": "x"} }, `config key "demo:a" is also the name of a resource`},
	} {
		t.Run(name, func(t *testing.T) {
			l.WithT = NewWithT(t)
			r := l.update(text)
			test.change(&r)
			result := l.do(t.Context(), r)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring(test.want))
			l.Expect(l.things()).To(Equal(1))
		})
	}
	l.WithT = NewWithT(t)
	r := l.update(text)
	r.Config = map[string]json.RawMessage{"lab:a": one, "v": json.RawMessage(`"given"`), "c": one}
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Same: 2}))
	l.Expect(result.Outputs).To(HaveKeyWithValue("o", json.RawMessage(`"given"`)), "a variable is what config says, as with Pulumi")
}

func TestConfigOfASourceByTheNameOfAResourceIsRefused(t *testing.T) {
	const resources = "resources: {a: {type: \"x:y:Z\"}}\n"
	for name, test := range map[string]struct {
		files   map[string]string
		refused bool
	}{
		"of Pulumi.<stack>.yaml": {map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\n" + resources, "Pulumi.dev.yaml": "config: {\"demo:a\": x}\n"}, true},
		"of Pulumi.yaml, with a Main.yaml elsewhere": {map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\nmain: sub\nconfig: {a: x}\n", "sub/Main.yaml": resources}, true},
		"a default beside the resource": {map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\nconfig: {a: {type: string, default: x}}\n" + resources}, true},
		"a Main.json, which comes first": {map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\nconfig: {a: x}\n", "Main.json": `{"resources": {}}`, "Main.yaml": resources}, false},
		"another namespace": {map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\n" + resources, "Pulumi.dev.yaml": "config: {\"aws:a\": x}\n"}, false},
		"another runtime": {map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: python\nconfig: {a: x}\n", "Main.yaml": resources}, false},
		"a program that is compiled": {map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: {name: yaml, options: {compiler: cue}}\nconfig: {a: x}\n", "Main.yaml": resources}, false},
		"what is no YAML": {map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\nconfig: {a: x}\n", "Main.yaml": "resources: ["}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := testDirectory(t)
			writeTree(t, dir.Workspace(), test.files)
			_, err := (&Driver{Cache: t.TempDir()}).prepare(t.Context(), dir, artifactRun("/"))
			if test.refused {
				g.Expect(err).To(MatchError(ContainSubstring(`config key "demo:a" is also the name of a resource of the program: `)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}
