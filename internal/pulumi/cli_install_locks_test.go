// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func TestALockFileWithoutItsPackageManagerIsNotIgnored(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.driver.Path = []string{toolsDir(t, "npm")}
	dir, r := l.sourced(map[string]string{"Pulumi.yaml": "name: demo\nruntime: nodejs\n", "package.json": "{}", "pnpm-lock.yaml": ""})
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(And(ContainSubstring("pnpm-lock.yaml is in the source, but there is no pnpm"), ContainSubstring("set packagemanager to npm")))
	l.Expect(l.newCalls()).To(BeEmpty())

	dir, r = l.sourced(map[string]string{"Pulumi.yaml": "name: demo\nruntime: {name: nodejs, options: {packagemanager: npm}}\n", "package.json": "{}", "pnpm-lock.yaml": ""})
	l.doWritten(t.Context(), dir, r)
	l.Expect(l.newCalls()).To(Equal([]string{"install"}))
}

func TestTextsAboutChangedLockFiles(t *testing.T) {
	for _, test := range []struct {
		changed          []string
		refused, warning string
	}{
		{[]string{"yarn.lock"}, "yarn.lock of the source does not fit the program, and CI is set: update and commit it",
			"yarn.lock of the source did not fit the program: the installation changed it, and the program runs with versions that are not in the source. Update and commit it"},
		{[]string{"go.mod", "go.sum"}, "go.mod and go.sum of the source do not fit the program, and CI is set: update and commit them",
			"go.mod and go.sum of the source did not fit the program: the installation changed them, and the program runs with versions that are not in the source. Update and commit them"},
	} {
		g := NewWithT(t)
		refused, warning := changedLocksTexts(test.changed)
		g.Expect(refused).To(Equal(test.refused))
		g.Expect(warning).To(Equal(test.warning))
	}
}

func TestALockFileThatIsOutOfDate(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withLanguage()
	source := map[string]string{
		"yarn.lock": "a@1:\n  version 1.0.0\n", "program.json": `{"things": ["a"], "install": {"write": {"yarn.lock": "a@1:\n  version 1.0.1\n"}}}`,
	}
	dir, r := l.sourced(source)
	r.Env["CI"] = "true"
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(Equal(installing + ": yarn.lock of the source does not fit the program, and CI is set: update and commit it"))
	l.Expect(result.Warnings).To(BeEmpty())
	l.Expect(l.newCalls()).To(Equal([]string{"install"}))
	l.Expect(os.ReadDir(l.backend)).To(HaveLen(1), "nothing but what was there")

	dir, r = l.sourced(source)
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Warnings).To(ConsistOf(HavePrefix("yarn.lock of the source did not fit the program")))
	l.Expect(l.saidLines()).To(ContainElement(result.Warnings[0]))

	source["program.json"] = `{"things": ["a"], "install": {"write": {"yarn.lock": "a@1:\n  version 1.0.0\n"}}}`
	dir, r = l.sourced(source)
	r.Env["CI"] = "true"
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Warnings).To(BeEmpty())
}
