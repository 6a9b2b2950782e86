// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// manyResources have IDs of that length that do not compress.
func manyResources(count, length int) []run.Resource {
	ids := noise(count * length)
	all := make([]run.Resource, count)
	for i := range all {
		all[i] = run.Resource{
			URN: fmt.Sprintf("urn:pulumi:dev::app::aws:s3/bucket:Bucket::bucket-%06d", i), Type: "aws:s3/bucket:Bucket", ID: ids[i*length : (i+1)*length],
		}
	}
	return all
}

func TestListsRoundTrip(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	ended := run.Result{
		Outcome: run.Succeeded, StartedAt: now, EndedAt: now,
		Inventory: &run.Inventory{Complete: true, Resources: manyResources(20_000, 20), Gone: []string{"urn:gone"}, LeftOut: 3},
		Plan: &plan.Plan{
			Steps: []plan.Step{{Op: "update", URN: "urn:a", Type: "t", Properties: []plan.Property{{
				Path: "tags", Kind: plan.KindUpdate, Change: plan.Change{Old: quoted("a"), New: quoted("b")},
			}}}},
			More: plan.Counts{Delete: 2}, MoreDigest: "sha256:01",
		},
		Done: &plan.Plan{
			Destroy: true, Steps: []plan.Step{{Op: "create", URN: "urn:c", Type: "t", Failed: true}}, More: plan.Counts{Failed: 1},
			Outputs: []plan.Output{{Name: "url", Change: plan.Change{Old: quoted("a")}}}, MoreOutputs: 2,
		},
		Drift: &run.Drift{Found: plan.Plan{Steps: []plan.Step{{Op: "delete", URN: "urn:b", Type: "t"}}, More: plan.Counts{Update: 1}, MoreDigest: "sha256:02"}, Ignored: 3},
	}
	data, err := EncodeResult(run.Update, ended)
	g.Expect(err).NotTo(HaveOccurred())
	read, err := DecodeResult(data, now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*read).To(Equal(ended), "twenty thousand resources, with their IDs")
}

func TestListsThatDoNotFitSayWhatIsLeftOut(t *testing.T) {
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	large := map[string]json.RawMessage{"large": quoted(noise(900 << 10))}
	long, texts := plan.Plan{More: plan.Counts{Delete: 1}, MoreDigest: "sha256:01"}, noise(10_000*300)
	for i := range 10_000 {
		long.Steps = append(long.Steps, plan.Step{Op: "update", URN: fmt.Sprintf("urn:%d", i), Properties: []plan.Property{
			{Path: texts[i*300 : i*300+200], Change: plan.Change{New: quoted(texts[i*300+200 : i*300+300])}},
		}})
	}
	for name, tt := range map[string]struct {
		operation run.Operation
		ended     run.Result
		want      func(g *WithT, read *run.Result)
	}{
		"IDs go first": {
			run.Update, run.Result{Inventory: &run.Inventory{Complete: true, Resources: manyResources(20_000, 90)}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Inventory.WithoutIDs).To(BeTrue())
				g.Expect(read.Inventory.Resources).To(HaveLen(20_000))
				g.Expect(read.Inventory.LeftOut).To(BeZero())
			},
		},
		"outputs come before resources": {
			run.Update, run.Result{Outputs: large, Inventory: &run.Inventory{Complete: true, Resources: manyResources(20_000, 60), LeftOut: 5}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Outputs).To(HaveLen(1))
				g.Expect(read.Inventory.Complete).To(BeTrue())
				g.Expect(read.Inventory.Resources).NotTo(BeEmpty())
				g.Expect(len(read.Inventory.Resources) + read.Inventory.LeftOut).To(Equal(20_005))
			},
		},
		"outputs that do not fit leave the room to resources": {
			run.Update, run.Result{Outputs: map[string]json.RawMessage{"large": quoted(noise(2 << 20))}, Inventory: &run.Inventory{Complete: true, Resources: manyResources(10, 20)}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.LeftOut).To(Equal(1))
				g.Expect(read.Inventory).To(Equal(&run.Inventory{Complete: true, Resources: manyResources(10, 20)}))
			},
		},
		"as many resources gone as fit are kept, and Missed is set": {
			run.Update, run.Result{Inventory: &run.Inventory{Gone: strings.SplitAfter(noise(2<<20), "a")}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Inventory.Missed).To(BeTrue())
				g.Expect(read.Inventory.Gone).NotTo(BeEmpty())
			},
		},
		"a plan is cut, and has the same digest": {
			run.Preview, run.Result{Plan: &long},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Plan.Steps).NotTo(BeEmpty())
				g.Expect(read.Plan.Counts()).To(Equal(plan.Counts{Update: 10_000, Delete: 1}))
				g.Expect(read.Plan.Digest()).To(Equal(long.Digest()))
			},
		},
		"drift is cut, and has the same digest": {
			run.CheckDrift, run.Result{Drift: &run.Drift{Found: long, Ignored: 2}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Drift.Found.Steps).NotTo(BeEmpty())
				g.Expect(read.Drift.Found.Counts()).To(Equal(plan.Counts{Update: 10_000, Delete: 1}))
				g.Expect(read.Drift.Found.Digest()).To(Equal(long.Digest()))
				g.Expect(read.Drift.Ignored).To(Equal(2))
			},
		},
		"what was done is cut before the log": {
			run.Update, run.Result{Done: &long, Log: &run.Log{Lines: []run.LogLine{{Text: "done"}}}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Done.Steps).NotTo(BeEmpty())
				g.Expect(read.Done.Counts()).To(Equal(plan.Counts{Update: 10_000, Delete: 1}))
				g.Expect(read.Done.MoreDigest).To(BeEmpty(), "nobody approves it")
				g.Expect(read.Log.Lines).To(HaveLen(1))
			},
		},
		"of what was done, the counts stay if nothing else fits": {
			run.Update, run.Result{Done: &long, Outputs: map[string]json.RawMessage{"large": quoted(noise(2 << 20))}, Log: &run.Log{}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.LeftOut).To(Equal(1))
				g.Expect(*read.Done).To(Equal(plan.Plan{More: plan.Counts{Update: 10_000, Delete: 1}}))
			},
		},
		"a plan and outputs that do not fit": {
			run.Preview, run.Result{Plan: &long, Outputs: map[string]json.RawMessage{"large": quoted(noise(2 << 20))}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.LeftOut).To(Equal(1))
				g.Expect(read.Plan.Digest()).To(Equal(long.Digest()))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tt.ended.Outcome = run.Succeeded
			data, err := EncodeResult(tt.operation, tt.ended)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(data)).To(BeNumerically("<=", MaxData))
			read, err := DecodeResult(data, now)
			g.Expect(err).NotTo(HaveOccurred())
			tt.want(g, read)
			g.Expect(long.Steps).To(HaveLen(10_000), "the result itself stays as it is")
		})
	}
}

// The list compresses well, but is too large once unpacked.
func TestListsAreSmallEnoughToBeRead(t *testing.T) {
	g := NewWithT(t)
	resources := make([]run.Resource, 12_000)
	for i := range resources {
		resources[i].URN = strings.Repeat("a", 3000)
	}
	data, err := EncodeResult(run.Update, run.Result{Outcome: run.Succeeded, Inventory: &run.Inventory{Resources: resources}})
	g.Expect(err).NotTo(HaveOccurred())
	read, err := DecodeResult(data, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Inventory.LeftOut).To(BeNumerically(">", 0))
	g.Expect(read.Inventory.Resources).NotTo(BeEmpty())
}

func TestListsHaveNoMoreMembersThanAreRead(t *testing.T) {
	g := NewWithT(t)
	data, err := EncodeResult(run.Update, run.Result{Outcome: run.Succeeded, Inventory: &run.Inventory{Resources: make([]run.Resource, maxMembers)}})
	g.Expect(err).NotTo(HaveOccurred())
	read, err := DecodeResult(data, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Inventory.LeftOut).To(BeNumerically(">", 0))
	g.Expect(read.Inventory.Resources).NotTo(BeEmpty())
}

func TestOutputsOfTooManyMembersAreLeftOut(t *testing.T) {
	g := NewWithT(t)
	long := json.RawMessage("[" + strings.Repeat("1,", maxMembers) + "1]")
	ended := run.Result{Outcome: run.Succeeded, Plain: &run.PlainOutputs{Values: map[string]json.RawMessage{"long": long}}}
	data, err := EncodeResult(run.Update, ended)
	g.Expect(err).NotTo(HaveOccurred())
	read, err := DecodeResult(data, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Outcome).To(Equal(run.Succeeded))
	g.Expect(read.Plain).To(BeNil())
	data, err = EncodeResult(run.ReadOutputs, ended)
	g.Expect(err).NotTo(HaveOccurred())
	read, err = DecodeResult(data, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Message).To(And(ContainSubstring("items of lists and objects"), ContainSubstring("spec.writeOutputsToSecret.keys")))
}

// The program of a tenant can write the Secret too.
func TestForgedListsAreBounded(t *testing.T) {
	g := NewWithT(t)
	resources := make([]run.Resource, 30_000)
	resources[0] = run.Resource{URN: strings.Repeat("u", 10_000), ID: strings.Repeat("i", 10_000)}
	forged := &plan.Plan{Steps: make([]plan.Step, 30_000), More: plan.Counts{Delete: 1 << 40, Failed: 1}, MoreDigest: strings.Repeat("d", 10_000)}
	forged.Steps[0] = plan.Step{Op: strings.Repeat("o", 10_000), URN: strings.Repeat("u", 10_000), Properties: make([]plan.Property, 1000), MoreProperties: -1}
	for i := range forged.Steps[1:] {
		forged.Steps[i+1].URN = "v"
	}
	forged.Steps[1].Failed, forged.Incomplete = true, true
	all, err := pack(result{Result: run.Result{
		Outcome: run.Succeeded, Inventory: &run.Inventory{Resources: resources, LeftOut: -5}, Plan: forged, Done: forged,
		Drift: &run.Drift{Found: plan.Plan{Steps: forged.Steps, Inputs: "none", Outputs: []plan.Output{{}}}, Ignored: -1},
	}})
	g.Expect(err).NotTo(HaveOccurred())
	read, err := DecodeResult(all.data, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Inventory.Resources).To(HaveLen(maxResources))
	g.Expect(read.Inventory.Resources[0].URN).To(HaveLen(maxURN))
	g.Expect(read.Inventory.LeftOut).To(BeZero())
	g.Expect(read.Plan.Steps).To(HaveLen(plan.MaxSteps))
	g.Expect(read.Plan.Steps[0].Op).To(HaveLen(plan.MaxName))
	g.Expect(read.Plan.Steps[0].URN).To(HaveLen(plan.MaxURN))
	g.Expect(read.Plan.Steps[0].Properties).To(HaveLen(plan.MaxProperties))
	g.Expect(read.Plan.Steps[0].MoreProperties).To(BeZero())
	g.Expect(read.Plan.More.Delete).To(Equal(maxCount))
	g.Expect(len(read.Plan.MoreDigest)).To(BeNumerically("<=", plan.MaxName))
	g.Expect(read.Plan.Steps[1].Failed).To(BeFalse(), "nobody has tried a plan")
	g.Expect(read.Plan.More).To(Equal(plan.Counts{Delete: maxCount, Other: 1}))
	g.Expect(read.Done.Steps[1].Failed).To(BeTrue())
	g.Expect(read.Done.Untried()).To(Equal(plan.Plan{Steps: read.Plan.Steps, More: read.Plan.More}))
	g.Expect(read.Done.Incomplete && !read.Plan.Incomplete).To(BeTrue())
	g.Expect(*read.Drift).To(Equal(run.Drift{Found: plan.Plan{Steps: read.Plan.Steps}}), "it has only steps")
}

func TestForgedViolationsAreBounded(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("x", 10_000)
	forged := run.Violations{Mandatory: map[string]int{"negative": -1, "huge": 1 << 40, long: 1}, Advisory: map[string]int{}}
	for i := range 10_000 {
		forged.Listed = append(forged.Listed,
			run.Violation{Level: run.PolicyLevel(fmt.Sprintf("level %d", i))},
			run.Violation{Set: long, Pack: long, Policy: long, Level: run.Mandatory, Resource: long, Message: long})
		forged.Advisory[fmt.Sprintf("set-%d", i)] = 1
	}
	all, err := pack(result{Result: run.Result{Outcome: run.Succeeded, Violations: run.Violations{
		Listed: forged.Listed[:200], Mandatory: forged.Mandatory, Advisory: forged.Advisory,
	}}})
	g.Expect(err).NotTo(HaveOccurred())
	read, err := DecodeResult(all.data, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Violations.Listed).To(HaveLen(v1.MaxViolations))
	g.Expect(read.Violations.Listed).To(HaveEach(Equal(run.Violation{
		Set: long[:maxObject], Pack: long[:maxObject], Policy: long[:maxName], Level: run.Mandatory, Resource: long[:maxName], Message: long[:maxName],
	})), "another level would be a label of metrics")
	g.Expect(read.Violations.Mandatory).To(Equal(map[string]int{"huge": maxCount}))
	g.Expect(read.Violations.Advisory).To(HaveLen(v1.MaxPolicySets + 1))
}

// The controller packs it again, which takes time with each byte.
func TestWhatWasDoneIsBoundedAsAWhole(t *testing.T) {
	g := NewWithT(t)
	var done plan.Plan
	for n := range 100 {
		one := plan.Step{Op: plan.OpCreate, URN: fmt.Sprintf("urn:%d", n)}
		for m := range 20 {
			one.Properties = append(one.Properties, plan.Property{Path: fmt.Sprint(m), Change: plan.Change{New: quoted(strings.Repeat("x", 4000))}})
		}
		done.Steps = append(done.Steps, one)
	}
	bounded := boundedDone(&done)
	g.Expect(done.Size()).To(BeNumerically(">", 7<<20))
	g.Expect(bounded.Size()).To(BeNumerically("<=", 4<<20))
	g.Expect(bounded.Counts()).To(Equal(plan.Counts{Create: 100}))
}

func TestAnUnknownCancelIsIgnored(t *testing.T) {
	g := NewWithT(t)
	g.Expect(DecodeCancel([]byte("Gently"))).To(Equal(CancelGently))
	g.Expect(DecodeCancel([]byte("Now"))).To(Equal(CancelNow))
	g.Expect(DecodeCancel([]byte("later"))).To(Equal(NotCancelled))
	g.Expect(DecodeCancel(nil)).To(Equal(NotCancelled))
}
