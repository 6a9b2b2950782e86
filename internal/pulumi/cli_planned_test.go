// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// propose is the proposal of an update to the program.
func (l *lab) propose(program string) run.Run {
	r := l.update(program)
	r.Operation, r.PlanInputs, r.PlanKey = run.Propose, "sha256:inputs", "key"
	return r
}

// proposed does the proposal, and returns the plan.
func (l *lab) proposed(r run.Run) *plan.Plan {
	l.Helper()
	result := l.do(l.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Plan).NotTo(BeNil())
	return result.Plan
}

// approved is what was proposed, held to a plan of it.
func approved(r run.Run, p *plan.Plan) run.Run {
	r.Approved = p.Digest()
	if r.Operation = run.Update; p.Destroy {
		r.Operation = run.Destroy
	}
	return r
}

func TestAnUpdateIsHeldToItsPlan(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.thing("value: one", "value: \"${a.id}\"")
	first := l.proposed(l.propose(program))
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "stack export", "version", "preview"}))
	l.Expect(l.things()).To(BeZero(), "nothing is made")
	l.Expect(l.locks()).To(BeEmpty())
	l.Expect(first.Versions).To(HaveKeyWithValue("pulumi", MatchRegexp(`^v3\.`)))

	result := l.do(t.Context(), approved(l.propose(program), first))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "version", "preview", "stack export", "up"}))
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 3}), "what the preview reports is not counted too")
	l.Expect(result.Inventory.Resources).To(HaveLen(3))
	l.Expect(l.things()).To(Equal(2))

	result = l.do(t.Context(), approved(l.propose(program), first))
	l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
	l.Expect(result.Backend).NotTo(BeEmpty())
	l.Expect(result.Plan.IsEmpty()).To(BeTrue())
	result = l.do(t.Context(), approved(l.propose(program), result.Plan))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), "an update without changes: %s", result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Same: 3}))
}

// Either exactly what was approved is done, or nothing.
func TestNothingButTheApprovedPlanIsApplied(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// outputs are those of the program.
		outputs string
		// change happens after the approval, and edit changes the run in both.
		change func(l *lab, r *run.Run)
		edit   func(r *run.Run)
		// applied says that the plan is the same all the same.
		applied bool
		variant bool
	}{
		"nothing": {variant: true, change: func(*lab, *run.Run) {}, applied: true},
		"the program gives another value": {change: func(_ *lab, r *run.Run) {
			r.Program.YAML = []byte(strings.Replace(string(r.Program.YAML), "two", "evil", 1))
		}},
		"the program has one more resource": {variant: true, change: func(l *lab, r *run.Run) {
			r.Program.YAML = []byte(l.thing("value: two", "value: one", "value: more"))
		}},
		"the program has another output": {outputs: "outputs: {o: \"${a.value}\"}\n", change: func(_ *lab, r *run.Run) {
			r.Program.YAML = []byte(strings.Replace(string(r.Program.YAML), "o:", "p:", 1))
		}},
		"the program makes another secret": {variant: true, outputs: "outputs: {s: {\"fn::secret\": canary}}\n", change: func(_ *lab, r *run.Run) {
			r.Program.YAML = []byte(strings.Replace(string(r.Program.YAML), "canary", "other", 1))
		}},
		"the program protects a resource": {variant: true, change: func(_ *lab, r *run.Run) {
			r.Program.YAML = []byte(strings.Replace(string(r.Program.YAML), "value: two\n", "value: two\n    options: {protect: true}\n", 1))
		}},
		"an input": {variant: true, change: func(_ *lab, r *run.Run) { r.PlanInputs = "sha256:others" }},
		"another user updates the stack": {change: func(l *lab, _ *run.Run) {
			l.Expect(l.do(l.Context(), l.update(l.thing("value: three", "value: one"))).Outcome).To(Equal(run.Succeeded))
		}},
		"another user updates the stack without changes": {change: func(l *lab, _ *run.Run) {
			l.Expect(l.do(l.Context(), l.update(l.thing("value: one", "value: one"))).Outcome).To(Equal(run.Succeeded))
		}, applied: true},
		"the resource drifts before an update that refreshes": {
			edit:   func(r *run.Run) { r.Options.Refresh = true },
			change: func(l *lab, _ *run.Run) { l.drift("a", "drifted") },
		},
		"nothing before an update that refreshes": {
			variant: true, edit: func(r *run.Run) { r.Options.Refresh = true }, change: func(*lab, *run.Run) {}, applied: true,
		},
		"nothing with a target": {variant: true, edit: func(r *run.Run) { r.Options.Targets = []string{urnOf("a")} }, change: func(*lab, *run.Run) {}, applied: true},
	} {
		t.Run(name, func(t *testing.T) {
			if test.variant {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider()
			l.given(l.thing("value: one", "value: one"))
			proposal := l.propose(l.thing("value: two", "value: one") + test.outputs)
			if test.edit != nil {
				test.edit(&proposal)
			}
			made := l.proposed(proposal)
			l.Expect(l.valueOf("a")).To(Equal("one"))

			update := approved(proposal, made)
			update.ID += "-update"
			test.change(l, &update)
			before := l.valueOf("a")
			result := l.do(t.Context(), update)
			if test.applied {
				l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
				l.Expect(l.valueOf("a")).To(Equal("two"))
				l.Expect(result.Changes.Updated).To(Equal(1))
				return
			}
			l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
			l.Expect(result.Plan.Digest()).NotTo(Equal(made.Digest()))
			l.Expect(result.Interrupted).To(BeFalse())
			l.Expect(result.Changes).To(BeZero())
			l.Expect(l.valueOf("a")).To(Equal(before))
			l.Expect(l.things()).To(Equal(2))
		})
	}
}

func TestAReplacementIsDestructiveAndAppliedAsApproved(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: one"))
	proposal := l.propose(strings.Replace(l.thing("value: one"), "name: a\n", "name: z\n", 1))
	made := l.proposed(proposal)
	l.Expect(made.Destructive()).To(BeTrue())
	update := approved(proposal, made)
	update.ID += "-update"
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes.Replaced).To(Equal(1))
}

// Pulumi takes a resource with other options for the same.
func TestAPlanHasTheOptionsThatChange(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	with := func(options string) string { return l.thing("value: one\n    options: " + options) }
	l.given(with("{protect: true}"))
	l.Expect(l.proposed(l.propose(with("{protect: true, dependsOn: []}"))).IsEmpty()).To(BeTrue())

	proposal := l.propose(with("{retainOnDelete: true}"))
	made := l.proposed(proposal)
	l.Expect(plan.Terminal(*made, 0, nil)).To(Equal(` ~ lab:index:Thing a (only options change)
     ~ protect: true => false  # option
     ~ retainOnDelete: false => true  # option
`))
	l.Expect(made.IsEmpty()).To(BeFalse())
	l.Expect(made.Digest()).NotTo(Equal(l.proposed(l.propose(with("{}"))).Digest()))

	update := approved(proposal, made)
	update.ID += "-update"
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.state()).To(And(ContainSubstring(`"retainOnDelete":true`), Not(ContainSubstring(`"protect"`))))

	// A refresh reports what has drifted before the resource itself.
	l.drift("a", "drifted")
	proposal = l.propose(with("{protect: true}"))
	proposal.Options.Refresh = true
	l.Expect(plan.Terminal(*l.proposed(proposal), 0, nil)).To(ContainSubstring("~ protect: false => true  # option\n"))
}

// Pulumi's own plans would fail such an update in the middle, or after it has done everything.
func TestAnUpdateIsHeldToItsPlanWhateverChangesWithIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		program, unbound string
		variant          bool
	}{
		"an output that is a resource":        {program: "outputs: {r: \"${a}\", nested: [{r: \"${a}\"}]}\n"},
		"a secret output that has a resource": {program: "outputs: {r: {\"fn::secret\": {r: \"${a}\"}}}\n", variant: true},
		"an archive that another resource makes": {
			program: "  b: {type: \"lab:index:Thing\", properties: {name: b, files: {\"fn::fileArchive\": DIR/things}}, options: {dependsOn: [\"${a}\"]}}\n",
		},
		"an asset that another resource makes": {
			program: "  b: {type: \"lab:index:Thing\", properties: {name: b, files: {\"fn::fileAsset\": DIR/journal.jsonl}}, options: {dependsOn: [\"${a}\"]}}\n",
			variant: true,
		},
		"a provider with the ID of another resource": {
			program: "  other: {type: \"pulumi:providers:lab\", properties: {directory: \"DIR/${a.id}\"}}\n" +
				"  b: {type: \"lab:index:Thing\", properties: {value: x}, options: {provider: \"${other}\"}}\n",
			unbound: "pulumi/pulumi#13765",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.variant {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider().withStack()
			writeTree(t, l.cloud, map[string]string{"things/.keep": "", "journal.jsonl": ""})
			proposal := l.propose(l.thing("value: one") + strings.ReplaceAll(test.program, "DIR", l.cloud))
			made := l.proposed(proposal)
			l.Expect(made.Unbound).To(ContainSubstring(test.unbound))
			l.Expect(made.Unbound == "").To(Equal(test.unbound == ""))
			update := approved(proposal, made)
			update.ID += "-update"
			result := l.do(t.Context(), update)
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			l.Expect(result.Changes.Created).To(BeNumerically(">=", 2))
		})
	}
}

// Nothing else changes that could make the files.
func TestAnUpdateOfFilesAloneIsHeldToItsPlan(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("files: {\"fn::stringAsset\": one}"))
	proposal := l.propose(l.thing("files: {\"fn::assetArchive\": {x: {\"fn::stringAsset\": two}}}"))
	made := l.proposed(proposal)
	l.Expect(made.Unbound).To(BeEmpty())
	update := approved(proposal, made)
	update.ID += "-update"
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes.Updated).To(Equal(1))
}

// A program that is not the same when it runs a second time has passed the comparison.
func TestTheEngineIsHeldToThePlan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// edit is a command of sed for the program.
		edit, want string
		variant    bool
	}{
		"another value":  {edit: "s/two/evil/", want: "violates plan: properties changed: ~~value..."},
		"another output": {edit: "s/public/evil/", want: "as it does if an output of the stack is not as planned (pulumi/pulumi#16670)"},
		"one more":       {edit: "s/^outputs:/  c: {type: \"lab:index:Thing\", properties: {name: c}}\\noutputs:/", want: "create is not allowed by the plan", variant: true},
		"one less":       {edit: "/^  b:/d; s/, b: .*}/}/", want: "expected resource operations for", variant: true},
	} {
		t.Run(name, func(t *testing.T) {
			if test.variant {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider()
			l.given(l.thing("value: one"))
			// The output b is not known to Pulumi's plan.
			proposal := l.propose(l.thing("value: two") + "  b: {type: \"lab:index:Thing\", properties: {name: b}}\noutputs: {o: public, b: \"${b}\"}\n")
			update := approved(proposal, l.proposed(proposal))
			update.ID += "-update"
			// Before the update, the program becomes another one.
			l.replacing("never up", "sed -i '"+test.edit+"' *.yaml")
			result := l.do(t.Context(), update)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(And(ContainSubstring(test.want), ContainSubstring("Nothing was changed. If this comes again"), Not(ContainSubstring("evil"))))
			l.Expect(result.Changes).To(BeZero())
			l.Expect(result.Interrupted).To(BeFalse())
			l.Expect(result.Inventory).To(BeNil())
			l.Expect(l.valueOf("a")).To(Equal("one"))
			l.Expect(l.locks()).To(BeEmpty())
		})
	}
}

func TestADestroyIsHeldToItsPlan(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: one", "secretValue: hunter2"))
	proposal := func() run.Run {
		r := l.destroy()
		r.Operation, r.PlanInputs, r.PlanKey = run.ProposeDestroy, "sha256:inputs", "key"
		return r
	}
	made := l.proposed(proposal())
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "stack export", "version", "destroy"}))
	l.Expect(made.Destroy).To(BeTrue())
	l.Expect(made.Counts().Delete).To(Equal(3))
	l.Expect(l.things()).To(Equal(2))

	l.Expect(l.do(t.Context(), l.update(l.thing("value: two", "secretValue: hunter2"))).Outcome).To(Equal(run.Succeeded))
	result := l.do(t.Context(), approved(proposal(), made))
	l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
	l.Expect(l.things()).To(Equal(2))

	result = l.do(t.Context(), approved(proposal(), result.Plan))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.things()).To(BeZero())

	nothing := l.proposed(proposal())
	l.Expect(nothing.IsEmpty()).To(BeTrue(), "there is no stack")
	l.Expect(l.do(t.Context(), approved(proposal(), nothing)).Outcome).To(Equal(run.Succeeded))
}

// It leaves the lock of Pulumi and no stack, so that no other run could create it.
func TestAProposalThatIsKilledWhileItCreatesTheStackIsRecoveredFrom(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	host, err := os.Hostname()
	b.Expect(err).NotTo(HaveOccurred())
	locks := filepath.Join(b.backend, ".pulumi", "locks", "organization", "demo", "dev")
	b.Expect(os.MkdirAll(locks, 0o700)).To(Succeed())
	own := filepath.Join(b.driver.Bin, "pulumi")
	whole, err := os.ReadFile(own)
	b.Expect(err).NotTo(HaveOccurred())
	b.replacing("stack init", fmt.Sprintf(`printf '{"pid":%%d,"username":"bob","hostname":%q,"timestamp":"2026-01-02T03:04:05Z"}' $$ > %s/own.json; kill -9 $$`, host, locks))
	proposal := b.propose(plainProgram)
	result := b.do(t.Context(), proposal)
	b.Expect(result.Outcome).To(Equal(run.Failed))
	b.Expect(result.Interrupted).To(BeTrue(), result.Message)
	b.Expect(b.locks()).To(HaveLen(1))

	writeProgram(t, own, string(whole))
	recovery := b.recovery(proposal)
	recovery.Interrupted[0].Operation = run.Propose
	result = b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.locks()).To(BeEmpty())
	again := b.propose(plainProgram)
	again.Exists = false
	result = b.do(t.Context(), again)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.Interrupted).To(BeFalse())
}

// Only a resource that does not exist yet may be another value in the update, and not what is beside it.
func TestTheRestOfAnOutputWithAResourceIsHeldToThePlan(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	path := filepath.Join(l.cloud, "replicas")
	writeTree(t, l.cloud, map[string]string{"replicas": "3"})
	proposal := l.propose(l.thing("value: one") + "outputs: {o: {r: \"${a}\", replicas: {\"fn::readFile\": " + path + "}}}\n")
	made := l.proposed(proposal)
	l.Expect(made.Unbound).To(BeEmpty())
	l.replacing("--plan", "printf 300 > "+path)
	update := approved(proposal, made)
	update.ID += "-update"
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.Failed), result.Message)
	l.Expect(result.Message).To(ContainSubstring("it was to do something else than the approved plan"))
}
