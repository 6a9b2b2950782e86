// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The texts are what frand 1.4.2 makes of this seed, which the SDK of most providers has.
func TestTheRandomCharactersOfASeedAreKnown(t *testing.T) {
	g := NewWithT(t)
	texts := randomTexts([]byte("seed"))
	g.Expect(texts).To(ContainElements(
		"b172da4f896609e6fe2c01037e90f344bcb5b1ab2a276a5418cc2f5526e87e2a",
		"b172da4f-8966-09e6-fe2c-01037e90f344",
		"1ec836c14f8e3f3845577ed3bc41c8adfbc2a39f1be8ce71aa4ebb51006880c2",
		"bk2m1s6ra92op9pye3flhcvh1ua3uykj5l64gtv9vdcmm05zksuk1hz3ui0m2y64",
	))
	name, err := resource.NewUniqueName([]byte("seed"), "", maxRandom, 0, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(texts).To(ContainElement(name), "of the SDK that this is built with")
}

func TestTheRandomPartOfANameIsFound(t *testing.T) {
	const random = "1ec836c14f8e3f38"
	for name, test := range map[string]struct {
		text, want string
		least      int
	}{
		"at the end":                      {text: "bucket-1ec836c1", want: "1ec836c1"},
		"as the bridge makes it":          {text: "bucket-1ec836c", want: "1ec836c"},
		"in the middle":                   {text: "arn:bucket-1ec836c1/x", want: "1ec836c1"},
		"few by chance":                   {text: "bucket-1ec8", want: ""},
		"few characters of a name":        {text: "bucket-1ec8", want: "bucket-1ec8", least: 4},
		"fewer than the pattern asks for": {text: "bucket-1ec8", want: "", least: 5},
		"few characters at the begin":     {text: "1ec8-bucket", want: "", least: 4},
		"fewer":                           {text: "bucket-1ec", want: "", least: 4},
		"others first":                    {text: "1ec8-1ec836c1", want: "1ec836c1", least: 4},
		"none":                            {text: "bucket-abcdef01", want: ""},
		"few of what JSON has to escape":  {text: "\"bucket\" 1ec8", want: "", least: 4},
		"alone":                           {text: "1ec8", want: "", least: 4},
	} {
		NewWithT(t).Expect(randomPart(test.text, random, cmp.Or(test.least, minRandom))).To(Equal(test.want), name)
	}
}

// Any pattern counts, wherever the config of a stack may come from.
func TestFewRandomCharactersAreOnlyLookedForIfAPatternAsksForThem(t *testing.T) {
	t.Parallel()
	pattern := func(text string) any { return map[string]any{"pattern": text} }
	raw := json.RawMessage(`{"providers":{"aws":{"pattern":"${name}-${num(5)}"}}}`)
	for name, test := range map[string]struct {
		edit  func(project *workspace.Project, settings *workspace.ProjectStack, r *run.Run)
		least int
	}{
		"no config": {edit: func(*workspace.Project, *workspace.ProjectStack, *run.Run) {}, least: 7},
		"another key": {edit: func(_ *workspace.Project, _ *workspace.ProjectStack, r *run.Run) {
			r.Config = map[string]json.RawMessage{"autonaming": raw}
		}, least: 7},
		"the Stack": {edit: func(_ *workspace.Project, _ *workspace.ProjectStack, r *run.Run) {
			r.Config = map[string]json.RawMessage{"pulumi:autonaming": raw}
		}, least: 5},
		"a secret of the Stack": {edit: func(_ *workspace.Project, _ *workspace.ProjectStack, r *run.Run) {
			r.Secrets = map[string]string{"pulumi:autonaming": string(raw)}
		}, least: 5},
		"the Program": {edit: func(_ *workspace.Project, _ *workspace.ProjectStack, r *run.Run) {
			r.Program.Config = map[string]any{"pulumi:autonaming": pattern("${name}-${alphanum(4)}")}
		}, least: 4},
		"the project file": {edit: func(p *workspace.Project, _ *workspace.ProjectStack, _ *run.Run) {
			p.Config = map[string]workspace.ProjectConfigType{"pulumi:autonaming": {Value: pattern("${name}-${hex(4)}")}}
		}, least: 4},
		"the settings of the stack": {edit: func(_ *workspace.Project, s *workspace.ProjectStack, _ *run.Run) {
			s.Config[config.MustMakeKey("pulumi", "autonaming")] = config.NewObjectValue(string(raw))
		}, least: 5},
		"more than the default": {edit: func(p *workspace.Project, _ *workspace.ProjectStack, _ *run.Run) {
			p.Config = map[string]workspace.ProjectConfigType{"pulumi:autonaming": {Value: pattern("${name}-${hex(10)}")}}
		}, least: 7},
		"too few to recognize": {edit: func(p *workspace.Project, _ *workspace.ProjectStack, _ *run.Run) {
			p.Config = map[string]workspace.ProjectConfigType{"pulumi:autonaming": {Value: pattern("${name}-${hex(2)}")}}
		}, least: 7},
	} {
		project, settings, r := &workspace.Project{Name: "demo"}, &workspace.ProjectStack{Config: config.Map{}}, run.Run{}
		test.edit(project, settings, &r)
		NewWithT(t).Expect(leastRandom(autonaming(project, settings, r))).To(Equal(test.least), name)
	}
}
