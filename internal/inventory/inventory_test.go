// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func resource(name string) run.Resource {
	return run.Resource{URN: "urn:pulumi:dev::app::lab:index:Thing::" + name, Type: "lab:index:Thing", ID: name}
}

func urn(name string) string { return resource(name).URN }

func TestMerge(t *testing.T) {
	changed := resource("a")
	changed.ID = "another"
	for name, test := range map[string]struct {
		before *List
		result run.Inventory
		want   List
	}{
		"a complete list replaces the previous one": {
			before: &List{Resources: []run.Resource{resource("x")}, Incomplete: true},
			result: run.Inventory{Complete: true, Resources: []run.Resource{resource("b"), resource("a")}},
			want:   List{Resources: []run.Resource{resource("a"), resource("b")}},
		},
		"a partial list changes, adds and removes, and keeps the rest": {
			before: &List{Resources: []run.Resource{resource("a"), resource("b"), resource("c")}},
			result: run.Inventory{Resources: []run.Resource{changed, resource("d")}, Gone: []string{urn("b")}},
			want:   List{Resources: []run.Resource{changed, resource("c"), resource("d")}},
		},
		"a resource that was deleted and created again is there": {
			before: &List{Resources: []run.Resource{resource("a")}},
			result: run.Inventory{Resources: []run.Resource{changed}, Gone: []string{urn("a")}},
			want:   List{Resources: []run.Resource{changed}},
		},
		"IDs that a run left out are missing": {
			result: run.Inventory{Complete: true, Resources: []run.Resource{resource("a")}, LeftOut: 1, WithoutIDs: true},
			want:   List{Resources: []run.Resource{resource("a")}, LeftOut: 1, WithoutIDs: true},
		},
		"IDs that a run left out are missing beside known ones": {
			before: &List{Resources: []run.Resource{resource("a")}},
			result: run.Inventory{Resources: []run.Resource{resource("b")}, WithoutIDs: true},
			want:   List{Resources: []run.Resource{resource("a"), resource("b")}, WithoutIDs: true},
		},
		"a partial list without a previous one is incomplete": {
			result: run.Inventory{Resources: []run.Resource{resource("a")}},
			want:   List{Resources: []run.Resource{resource("a")}, Incomplete: true},
		},
		"a list with missed events is incomplete": {
			before: &List{Resources: []run.Resource{resource("a")}},
			result: run.Inventory{Missed: true},
			want:   List{Resources: []run.Resource{resource("a")}, Incomplete: true},
		},
		"an incomplete list stays so until a complete one": {
			before: &List{Resources: []run.Resource{resource("a")}, Incomplete: true, LeftOut: 2},
			result: run.Inventory{Resources: []run.Resource{resource("b")}},
			want:   List{Resources: []run.Resource{resource("a"), resource("b")}, Incomplete: true, LeftOut: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Merge(test.before, test.result)).To(Equal(test.want))
		})
	}
}

// many returns resources with random IDs, like those of a cloud: these are what
// compression cannot shrink.
func many(t *testing.T, count int) List {
	t.Helper()
	list := List{}
	for n := range count {
		id := make([]byte, 16)
		if _, err := rand.Read(id); err != nil {
			t.Fatal(err)
		}
		list.Resources = append(list.Resources, run.Resource{
			URN:    fmt.Sprintf("urn:pulumi:production::platform::platform:index:Service$aws:ec2/securityGroupRule:SecurityGroupRule::service-%05d", n),
			Type:   "aws:ec2/securityGroupRule:SecurityGroupRule",
			ID:     "arn:aws:ec2:eu-central-1:123456789012:security-group-rule/sgr-" + hex.EncodeToString(id),
			Parent: fmt.Sprintf("urn:pulumi:production::platform::platform:index:Service::service-%04d", n/10),
		})
	}
	return list
}

func TestFiveThousandResourcesFit(t *testing.T) {
	g := NewWithT(t)
	list := many(t, 5000)
	data, kept, err := Encode(list)
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("5,000 resources take %d KiB", len(data)>>10)
	g.Expect(len(data)).To(BeNumerically("<", MaxData/3))
	g.Expect(kept).To(Equal(list))
	read, err := Decode(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read).To(Equal(list))
	again, _, err := Encode(read)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Digest(again)).To(Equal(Digest(data)), "nothing changed is no write")
}

func TestLeftOutResourcesAreCounted(t *testing.T) {
	g := NewWithT(t)
	list := many(t, 2000)
	whole, _, err := encode(list, MaxData)
	g.Expect(err).NotTo(HaveOccurred())

	data, kept, err := encode(list, len(whole)/2)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(data)).To(BeNumerically("<=", len(whole)/2))
	g.Expect(kept.WithoutIDs).To(BeTrue())
	g.Expect(kept.LeftOut).To(BeZero())
	g.Expect(list.Resources[0].ID).NotTo(BeEmpty(), "the list that was given is as it was")

	data, kept, err = encode(list, 2000)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(data)).To(BeNumerically("<=", 2000))
	g.Expect(kept.LeftOut).To(BeNumerically(">", 0))
	g.Expect(kept.Count()).To(Equal(2000))
	read, err := Decode(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read).To(Equal(kept))
}

// Anyone who may write ConfigMaps can write these.
func TestDataThatUnpacksToTooMuchIsRefused(t *testing.T) {
	resources, _, err := bounded.Pack(List{Resources: make([]run.Resource, maxMembers)})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	steps, _, err := bounded.Pack(plan.Plan{Steps: make([]plan.Step, maxMembers)})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, decode := range map[string]func() error{
		"resources": func() error { _, err := Decode(resources); return err },
		"steps":     func() error { _, err := DecodePlan(steps); return err },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			g.Expect(decode()).To(MatchError(ContainSubstring("more than")))
			runtime.ReadMemStats(&after)
			g.Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 1<<20))
		})
	}
}

func TestEncodedDataCanBeDecoded(t *testing.T) {
	g := NewWithT(t)
	data, kept, err := Encode(List{Resources: make([]run.Resource, maxMembers)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kept.LeftOut).To(BeNumerically(">", 0))
	g.Expect(kept.Count()).To(Equal(maxMembers))
	read, err := Decode(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Count()).To(Equal(maxMembers))
	made := plan.Plan{}
	for _, resource := range many(t, 5000).Resources {
		change := plan.Change{New: json.RawMessage(`"` + resource.ID + `"`)}
		made.Steps = append(made.Steps, plan.Step{Op: plan.OpCreate, URN: resource.URN, Properties: []plan.Property{
			{Path: "id", Change: change}, {Path: "parent", Change: change}, {Path: resource.ID},
		}})
	}
	data, err = EncodePlan(made)
	g.Expect(err).NotTo(HaveOccurred())
	p, err := DecodePlan(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Counts().Total()).To(Equal(len(made.Steps)))
	g.Expect(p.Digest()).To(Equal(made.Digest()))
}

func TestDecodeRefuses(t *testing.T) {
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte("{}"), "half": func() []byte {
		data, _, _ := Encode(many(t, 10))
		return data[:len(data)/2]
	}()} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(data)
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
}
