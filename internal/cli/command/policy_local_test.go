// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// testedThings is a program that violates the policies of the lab, unless its config is another.
const testedThings = `name: network
runtime: yaml
config:
  value: {type: string, default: forbidden and unwise}
  cloud: {type: string}
resources:
  lab: {type: "pulumi:providers:lab", defaultProvider: true, properties: {directory: "${cloud}"}}
  a: {type: "lab:index:Thing", properties: {name: a, value: "${value}"}}
`

const testedSet = `apiVersion: v1
kind: ConfigMap
metadata: {name: policies, namespace: platform}
data:
  lab: |
    no-forbidden-values: advisory
---
apiVersion: pulumi.com/v1
kind: PolicySet
metadata: {name: production}
spec:
  packs:
    - name: values
      dir: policies/lab
      sourceRef: {kind: GitRepository, name: policies, namespace: platform}
      configFrom: {configMap: {name: policies, namespace: platform, key: lab}}
      config:
        few-things: {enforcementLevel: mandatory, most: 0}
        no-unwise-values: {enforcementLevel: disabled}
    - name: tags
      sourceRef: {kind: GitRepository, name: policies, namespace: platform}
`

// policyTest is a directory with a program and a pack, and the tools of a person.
func policyTest(t *testing.T) func(args ...string) result {
	t.Helper()
	g := NewWithT(t)
	analyzer, err := process.FindBin("lab/pulumi-analyzer-lab")
	g.Expect(err).NotTo(HaveOccurred())
	files(t, map[string]string{
		"network/Pulumi.yaml": testedThings,
		// The ciphertext of a passphrase that is not here.
		"network/Pulumi.prod.yaml": "encryptionsalt: v1:a\nconfig:\n  network:value: {secure: v1:b}\n",
		"lab/PulumiPolicy.yaml":    "runtime: {name: go, options: {binary: pulumi-analyzer-lab}}\n",
		"policies.yaml":            testedSet,
	})
	work, err := os.Getwd()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Symlink(analyzer, "lab/pulumi-analyzer-lab")).To(Succeed())
	bin := filepath.Dir(filepath.Dir(analyzer))
	for _, dir := range []string{"tmp", "home"} {
		g.Expect(os.Mkdir(dir, 0o755)).To(Succeed())
	}
	for name, value := range map[string]string{
		"PATH": bin + ":" + filepath.Dir(analyzer) + ":/usr/bin:/bin", "TMPDIR": filepath.Join(work, "tmp"), "HOME": filepath.Join(work, "home"), "PULUMI_HOME": "",
		// Those of the person are not used.
		"PULUMI_BACKEND_URL": "https://backend.invalid", "PULUMI_CONFIG_PASSPHRASE": "canary", "PULUMI_STACK": "canary",
	} {
		t.Setenv(name, value)
	}
	return func(args ...string) result {
		t.Helper()
		var out, errs bytes.Buffer
		env := testEnvironment()
		env.Out, env.Err = &out, &errs
		before := listed(t, "network")
		exit := Run(t.Context(), env, append([]string{"policy", "test", "lab", "--program", "network"}, args...))
		t.Log(errs.String())
		g.Expect(listed(t, "network")).To(Equal(before), "the directory of the program is as it was")
		g.Expect(listed(t, "tmp")).To(BeEmpty(), "nothing is kept")
		return result{out: out.String(), err: errs.String(), exit: exit}
	}
}

// listed returns the files of a directory with their texts.
func listed(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	NewWithT(t).Expect(filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})).To(Succeed())
	return texts
}

func TestAPolicyPackIsTestedWithALocalProgram(t *testing.T) {
	g := NewWithT(t)
	test := policyTest(t)
	done := test("--config", "cloud=/tmp/nothing-is-made")
	g.Expect(done.exit).To(Equal(exitFailed))
	var shown []string
	for line := range strings.Lines(done.out) {
		shown = append(shown, strings.Join(strings.Fields(line), " "))
	}
	g.Expect(shown).To(Equal([]string{
		"LEVEL POLICY RESOURCE MESSAGE",
		"mandatory no-forbidden-values lab:index:Thing (a) the value is forbidden: forbidden and unwise",
		"advisory no-unwise-values lab:index:Thing (a) the value is unwise: forbidden and unwise",
	}))
	g.Expect(done.err).To(Equal("◎ previewing network with policy pack lab\n⚠️ policy pack lab: 1 violation of mandatory policies, 1 of advisory policies\n"))

	done = test("--config", "cloud=/tmp/nothing-is-made", "--policyset", "policies.yaml", "-o", "json")
	g.Expect(done.exit).To(Equal(exitFailed))
	var found v1.PoliciesStatus
	g.Expect(json.Unmarshal([]byte(done.out), &found)).To(Succeed())
	g.Expect(found).To(Equal(v1.PoliciesStatus{Mandatory: 1, Advisory: 1, Violations: []v1.PolicyViolation{
		{PolicySet: "production", Pack: "values", Policy: "few-things", Level: "mandatory", Message: "the stack has 1 things, and may have 0"},
		{PolicySet: "production", Pack: "values", Policy: "no-forbidden-values", Level: "advisory",
			Resource: "urn:pulumi:test::network::lab:index:Thing::a", Message: "the value is forbidden: forbidden and unwise"},
	}}))

	done = test("--config", "cloud=/tmp/nothing-is-made", "--stack", "prod")
	g.Expect(done.exit).To(BeZero(), "the secret is not known here: %s", done.out)
	g.Expect(done.err).To(HaveSuffix("✔ policy pack lab: 0 violations of mandatory policies, 0 of advisory policies\n"))
}

func TestATestOfAPolicyPackThatFailsIsNoResult(t *testing.T) {
	g := NewWithT(t)
	test := policyTest(t)
	done := test()
	g.Expect(done.exit).To(Equal(exitPreviewFailed))
	g.Expect(done.err).To(And(ContainSubstring("missing configuration value 'cloud'"), HaveSuffix("✗ the preview of the program failed, so that its policies are not all checked: exit status 1\n")))
	g.Expect(done.err).NotTo(ContainSubstring("canary"))

	g.Expect(os.WriteFile("network/broken", nil, 0o644)).To(Succeed())
	done = test("--config", "cloud=/tmp/nothing-is-made")
	g.Expect(done.exit).To(Equal(exitPreviewFailed))
	g.Expect(done.err).To(And(ContainSubstring("this pack is broken"), ContainSubstring("failed to start")))

	for _, wrong := range []struct{ args, message string }{
		{"--policyset=policies.yaml --pack=other", "✗ policies.yaml: no pack is named other: there are values, tags\n"},
		{"--policyset=missing.yaml", "✗ reading the PolicySet: open missing.yaml: no such file or directory\n"},
	} {
		done = test(strings.Fields(wrong.args)...)
		g.Expect(done.exit).To(Equal(exitPreviewFailed))
		g.Expect(done.err).To(Equal(wrong.message))
	}
	t.Setenv("PATH", "/nowhere")
	done = test()
	g.Expect(done.exit).To(Equal(exitPreviewFailed))
	g.Expect(done.err).To(ContainSubstring("✗ pulumi is not on the PATH: install the CLI of Pulumi\n"))
}
