// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// https://github.com/pulumi/pulumi-kubernetes-operator/issues/1160
func TestOutputsAndPropertiesMayHaveAnySize(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	apply := func(ok string, megabytes int) run.Result {
		t.Helper()
		r := l.update("")
		r.Program = run.Program{Artifact: &run.Artifact{}}
		r.Outputs = &run.WantedOutputs{Keys: []string{"ok", "token"}}
		dir := Directory(t.TempDir())
		writeTree(t, dir.Workspace(), map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\n" + l.thing("value: {\"fn::readFile\": ./mid.txt}") +
				"outputs:\n  manifests: {\"fn::readFile\": ./big.txt}\n  ok: " + ok + "\n  token: {\"fn::secret\": canary-04-t0ken}\n",
			"mid.txt": strings.Repeat("y", 3<<20), "big.txt": strings.Repeat("x", megabytes<<20),
		})
		result := l.driver.Do(t.Context(), dir, r, func(string) {})
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(string(result.Outputs["ok"])).To(Equal(`"` + ok + `"`))
		l.Expect(string(result.Outputs["token"])).To(Equal(`"[secret]"`))
		l.Expect(string(result.Outputs["manifests"])).To(HavePrefix(`"` + run.TooBigMark))
		l.Expect(result.Inventory.Complete).To(BeTrue())
		l.Expect(listedIDs(result)).To(HaveKeyWithValue("lab:index:Thing (a)", l.idOf("a")))
		l.Expect(result.Plain.Values).To(HaveLen(2), "what else there is does not matter")
		l.Expect(string(result.Plain.Values["ok"])).To(Equal(`"` + ok + `"`))
		return result
	}
	l.Expect(apply("first", 9).Changes).To(Equal(run.Changes{Created: 2}))
	l.Expect(apply("second", 5).Changes).To(Equal(run.Changes{Same: 2}), "the events have the outputs of both")
}
