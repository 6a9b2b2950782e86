// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// A program need not name the version of a plugin: Pulumi takes the newest.
func TestAnotherVersionOfAPluginIsAnotherPlan(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: one"))
	proposal := l.propose(l.thing("value: two"))
	made := l.proposed(proposal)
	l.Expect(made.Versions).To(HaveKeyWithValue("lab", "0.1.0"))

	plugin, err := process.FindBin("lab/pulumi-resource-lab")
	l.Expect(err).NotTo(HaveOccurred())
	plugins := filepath.Join(l.driver.Cache, "plugins")
	// Pulumi takes no pre-release if there is another version, and none that is still installed.
	for _, name := range []string{"resource-lab-v0.2.0", "resource-lab-v0.3.0-alpha.1", "resource-lab-v0.4.0"} {
		l.Expect(os.MkdirAll(filepath.Join(plugins, name), 0o700)).To(Succeed())
	}
	l.Expect(os.Symlink(plugin, filepath.Join(plugins, "resource-lab-v0.2.0", "pulumi-resource-lab"))).To(Succeed())
	l.Expect(os.WriteFile(filepath.Join(plugins, "resource-lab-v0.4.0.partial"), nil, 0o600)).To(Succeed())

	update := approved(proposal, made)
	update.ID += "-update"
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
	l.Expect(result.Plan.Versions).To(HaveKeyWithValue("lab", "0.2.0"))
	l.Expect(plan.Difference(*made, *result.Plan)).To(Equal("the version of lab is 0.2.0 instead of 0.1.0"))
	l.Expect(l.valueOf("a")).To(Equal("one"))
}

// Each kind of step, on one stack.
func TestEachKindOfStepIsDoneAsApproved(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: one", "value: one"))
	for _, id := range []string{"found-1", "found-2"} {
		writeTree(t, l.cloud, map[string]string{"things/" + id + ".json": `{"name": "found", "value": "there"}`})
	}
	imported := func(id string) string {
		return l.thing("value: one", "value: one") + `  found:
    type: lab:index:Thing
    properties: {name: found, value: there}
    options: {import: ` + id + "}\n"
	}
	replaced := func(name, options string) string {
		return strings.Replace(l.thing("value: one", `value: "of ${a.id}"`), "      name: a\n      value: one\n",
			"      name: "+name+"\n      value: one\n    options: {"+options+"}\n", 1)
	}
	for _, test := range []struct {
		name string
		// other is the program of an update that must not be done.
		proposed, other string
		want            string
		wantChanges     run.Changes
		wantThings      int
	}{
		{
			name: "import", proposed: imported("found-1"), other: imported("found-2"),
			want: ` = lab:index:Thing found (import of found-1)
     + name: "found"
     + value: "there"
`,
			wantChanges: run.Changes{Created: 1, Same: 3}, wantThings: 4,
		},
		{
			name: "replacement that deletes first", proposed: replaced("a2", "deleteBeforeReplace: true"), other: replaced("a2", "deleteBeforeReplace: false"),
			want: `-+ lab:index:Thing a (replace, the old one is deleted first)
     ~ name: "a" => "a2"  # forces replacement
 ~ lab:index:Thing b (update)
     ~ value: "one" => [unknown]
 - lab:index:Thing found (delete)
`,
			wantChanges: run.Changes{Replaced: 1, Updated: 1, Deleted: 1, Same: 1}, wantThings: 3,
		},
		{
			name: "replacement, of which a value is unknown", proposed: replaced("a3", "deleteBeforeReplace: false"), other: replaced("a4", "deleteBeforeReplace: false"),
			want: `+- lab:index:Thing a (replace)
     ~ name: "a2" => "a3"  # forces replacement
 ~ lab:index:Thing b (update)
     ~ value: "of a2-ID" => [unknown]
`,
			wantChanges: run.Changes{Replaced: 1, Updated: 1, Same: 1}, wantThings: 3,
		},
	} {
		made := l.proposed(l.propose(test.proposed))
		shown := regexp.MustCompile(`a2-[0-9a-f]{8}`).ReplaceAllString(plan.Terminal(*made, 0, nil), "a2-ID")
		l.Expect(shown).To(Equal(test.want), test.name)
		things := l.things()
		result := l.do(t.Context(), approved(l.propose(test.other), made))
		l.Expect(result.Outcome).To(Equal(run.PlanChanged), test.name)
		l.Expect(l.things()).To(Equal(things), test.name)
		result = l.do(t.Context(), approved(l.propose(test.proposed), made))
		l.Expect(result.Outcome).To(Equal(run.Succeeded), "%s: %s", test.name, result.Message)
		l.Expect(result.Changes).To(Equal(test.wantChanges), test.name)
		l.Expect(l.things()).To(Equal(test.wantThings), test.name)
	}
}
