// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// driftCheck is a check for drift, which has no program.
func (l *lab) driftCheck(ignored ...v1.IgnoredDrift) run.Run {
	r := l.update("")
	r.Operation, r.Program, r.PlanKey, r.IgnoreDrift = run.CheckDrift, run.Program{}, "key", ignored
	r.Known = r.Project
	return r
}

// checked does a check for drift that succeeds, and that leaves everything as it was.
func (l *lab) checked(r run.Run) *run.Drift {
	l.Helper()
	_ = l.newCalls()
	backend, things := l.backendFiles(), l.changesInCloud()
	dir, result := l.doIn(l.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.backendFiles()).To(Equal(backend), "the state is neither written nor locked")
	l.Expect(l.changesInCloud()).To(Equal(things))
	l.Expect(result.Drift).NotTo(BeNil())
	l.Expect(result).To(And(HaveField("Changes", run.Changes{}), HaveField("Outputs", BeNil()), HaveField("Plan", BeNil()),
		HaveField("Inventory", BeNil()), HaveField("Interrupted", BeFalse())))
	text, err := json.Marshal(result)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(string(text) + strings.Join(l.saidLines(), "\n")).NotTo(Or(ContainSubstring("canary"), ContainSubstring(ofState)))
	l.Expect(l.find("canary", string(dir), l.calls)).To(BeEmpty())
	return result.Drift
}

// changesInCloud are the operations that have changed the cloud.
func (l *lab) changesInCloud() []cloud.Entry {
	l.Helper()
	entries, err := cloud.Open(l.cloud).Journal()
	l.Expect(err).NotTo(HaveOccurred())
	var changes []cloud.Entry
	for _, entry := range entries {
		if entry.Op != cloud.Read {
			changes = append(changes, entry)
		}
	}
	return changes
}

// edit changes a thing outside of Pulumi.
func (l *lab) edit(name string, change func(*cloud.Thing)) {
	l.Helper()
	l.Expect(cloud.Open(l.cloud).Edit(l.idOf(name), change)).To(Succeed())
}

// shown is what is shown of the drift.
func shown(found *run.Drift) string { return plan.Terminal(found.Found, 0, nil) }

const driftProgram = `
  a: {type: lab:Thing, properties: {name: a, value: x, tags: {env: dev, k.ey: one, token: {"fn::secret": canary-old}}}}
  b: {type: lab:Thing, properties: {name: b, value: "${a.id}", secretValue: CANARYofstate71}, options: {protect: true}}
  c: {type: lab:Thing, properties: {name: c, value: "with CANARYofstate71 in it", tags: {only: one}}}
  d: {type: lab:Thing, properties: {name: d, value: x}, options: {ignoreChanges: [value]}}
  e: {type: lab:Thing, properties: {name: e, value: x}, options: {retainOnDelete: true}}
  f: {type: lab:Thing, properties: {name: f}}
`

// driftAll changes everything of the program outside of Pulumi.
func (l *lab) driftAll() {
	l.Helper()
	l.edit("a", func(t *cloud.Thing) {
		*t.Value = "y"
		t.Tags = map[string]string{"env": "prod", "new": "two", "token": "canary-new"}
	})
	l.edit("c", func(t *cloud.Thing) { *t.Value, t.Tags = "without CANARYofstate71", nil })
	l.edit("d", func(t *cloud.Thing) { *t.Value = "y" })
	l.edit("f", func(t *cloud.Thing) { t.Name, t.Tags = "other", map[string]string{"one": "1", "two": "2"} })
	for _, name := range []string{"b", "e"} {
		l.Expect(cloud.Open(l.cloud).Remove(l.idOf(name))).To(Succeed())
	}
}

func TestACheckFindsDrift(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.program(driftProgram, "  o: ${a.value}\n"))
	nothing := l.checked(l.driftCheck())
	l.Expect(shown(nothing)).To(BeEmpty())
	l.Expect(l.newCalls()).To(Equal([]string{"refresh"}), "a check that finds nothing costs one process")

	l.driftAll()
	const (
		ofA = ` ~ lab:index:Thing a (update)
     ~ tags.env: "dev" => "prod"
     + tags.new: "two"
     ~ tags.token: [secret] => [secret]
     - tags["k.ey"]: "one"
     ~ value: "x" => "y"
`
		ofB = ` - lab:index:Thing b (delete)
`
		ofC = ` ~ lab:index:Thing c (update)
     - tags: {only: "one"}
     ~ value: "with *** in it" => "without ***"  # not shown in full
`
		ofE = ` - lab:index:Thing e (delete)
`
		ofF = ` ~ lab:index:Thing f (update)
     ~ name: "f" => "other"  # forces replacement
     + tags: {one: "1", two: "2"}
`
	)
	all := l.checked(l.driftCheck())
	l.Expect(shown(all)).To(Equal(ofA + ofB + ofC + ofE + ofF))
	l.Expect(all.Ignored).To(BeZero())
	l.Expect(all.Recreates()).To(BeTrue())
	l.Expect(all.Found.Digest()).NotTo(Equal(nothing.Found.Digest()))
	l.Expect(l.newCalls()).To(Equal([]string{"refresh", "stack export"}), "the secrets of the state have to be known")
	l.Expect(l.saidLines()).To(ConsistOf(
		"lab:index:Thing (a): was changed outside of Pulumi", "lab:index:Thing (b): is gone", "lab:index:Thing (c): was changed outside of Pulumi",
		"lab:index:Thing (e): is gone", "lab:index:Thing (f): was changed outside of Pulumi",
	))
	l.Expect(l.checked(l.driftCheck()).Found.Digest()).To(Equal(all.Found.Digest()), "the same drift is the same")

	l.said = nil
	some := l.checked(l.driftCheck(
		v1.IgnoredDrift{Type: "lab:index:*", Paths: []string{"value", "tags.env", "tags.one"}},
		v1.IgnoredDrift{URN: "*::a", Paths: []string{"tags.new", "tags.token", `tags["k.ey"]`}},
		v1.IgnoredDrift{URN: urnOf("b"), Paths: []string{"value"}},
		v1.IgnoredDrift{URN: urnOf("e")},
		v1.IgnoredDrift{Type: "aws:*"},
	))
	l.Expect(shown(some)).To(Equal(ofB + ` ~ lab:index:Thing c (update)
     - tags.only: "one"
 ~ lab:index:Thing f (update)
     ~ name: "f" => "other"  # forces replacement
     + tags.two: "2"
`))
	l.Expect(some.Ignored).To(Equal(2))
	l.Expect(strings.Join(l.saidLines(), "\n")).NotTo(Or(ContainSubstring("(a)"), ContainSubstring("(e)")))
	l.Expect(shown(l.checked(l.driftCheck(v1.IgnoredDrift{URN: "*"})))).To(BeEmpty())
}

// What has drifted is not known if not all of it could be read.
func TestACheckForDriftThatFails(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.program(`
  a: {type: lab:Thing, properties: {name: a, value: x}}
  b: {type: lab:Thing, properties: {name: b, failures: {read: no luck}, secretValue: `+ofState+`, echoInput: true}}
  c: {type: lab:Thing, properties: {name: c, value: x}, options: {dependsOn: ["${b}"]}}
`, "  o: x\n"))
	l.drift("a", "drifted")
	before := l.backendFiles()
	result := l.do(t.Context(), l.driftCheck())
	l.Expect(result.Outcome).To(Equal(run.Failed), result.Message)
	l.Expect(result.Drift).To(BeNil())
	l.shows(result, `lab:index:Thing (b): no luck (input was "***") (of 3 resources, 2 could be read, and drift was found in 1 of those)`)
	l.Expect(l.backendFiles()).To(Equal(before))

	result = l.do(t.Context(), l.driftCheck(v1.IgnoredDrift{URN: urnOf("b")}))
	l.Expect(result.Outcome).To(Equal(run.Failed), "what could not be read may have drifted, or may be why others have not")
}
