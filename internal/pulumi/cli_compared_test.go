// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// compared is the preview of an update to the program whose plan is compared with that of the update.
func (l *lab) compared(program string) run.Run {
	r := l.propose(program)
	r.Operation, r.WantsPlan, r.Comparable = run.Preview, true, true
	return r
}

// modified lists what is in the backend, directories too, with the times at which they were modified: a lock that is
// gone again leaves its directory modified.
func (l *lab) modified() map[string]string {
	l.Helper()
	files := map[string]string{}
	l.Expect(filepath.WalkDir(l.backend, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			files[path] = info.ModTime().String()
		}
		return err
	})).To(Succeed())
	return files
}

func TestAComparedPreviewHasThePlanOfTheUpdate(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: one", "value: x") + "outputs: {o: \"${a.value}\", s: {\"fn::secret\": canary}}\n")
	program := l.thing("value: two", "value: x", "value: new") + "outputs: {o: \"${a.value}\", s: {\"fn::secret\": kept}}\n"
	before := l.modified()
	result := l.do(t.Context(), l.compared(program))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "stack export", "version", "preview"}))
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 1, Updated: 1, Same: 2}), "of the preview, as without a plan")
	l.Expect(result.Plan).NotTo(BeNil())
	l.Expect(result.Outputs).To(BeNil())
	l.Expect(l.modified()).To(Equal(before), "neither written nor locked")

	proposed := l.proposed(l.propose(program))
	l.Expect(result.Plan.Digest()).To(Equal(proposed.Digest()))
	l.Expect(result.Plan).To(Equal(proposed))
	l.newCalls()
	result = l.do(t.Context(), approved(l.propose(program), result.Plan))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), "what the preview shows is what the update does: %s", result.Message)
}

func TestAComparedPreviewLeavesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	result := l.do(t.Context(), l.compared(l.thing("value: x")))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("a preview does not create it"))
	l.Expect(result.Plan).To(Or(BeNil(), HaveField("State", "")))
	l.Expect(l.newCalls()).To(Equal([]string{"stack export"}))
	l.Expect(l.stackFile()).NotTo(BeAnExistingFile())

	l.given(l.thing("value: x"))
	writeTree(t, l.backend, map[string]string{
		".pulumi/locks/organization/demo/dev/0.json": `{"pid":7,"username":"bob","hostname":"elsewhere","timestamp":"2026-01-02T03:04:05Z"}`,
	})
	before := l.modified()
	result = l.do(t.Context(), l.compared(l.thing("value: y")))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), "it needs no lock: %s", result.Message)
	l.Expect(l.modified()).To(Equal(before))
	l.Expect(l.valueOf("a")).To(Equal("x"))
	l.Expect(os.RemoveAll(filepath.Join(l.backend, ".pulumi", "locks"))).To(Succeed())

	failing := strings.Replace(l.thing("value: y"), "value: y", "value: \"${nothing}\"", 1)
	result = l.do(t.Context(), l.compared(failing))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("nothing"))
}

// Neither waits for the other, or finds the stack locked.
func TestAComparedPreviewRunsBesideAnUpdate(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.withStack()
	results := make(chan run.Result, 1)
	go func() { results <- b.do(t.Context(), b.update(b.thing("value: x\n      hold: create"))) }()
	b.awaitCreate()
	result := b.do(t.Context(), b.compared(b.thing("value: y")))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.Plan).NotTo(BeNil())
	b.release()
	b.Eventually(results).Should(Receive(&result))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
}
