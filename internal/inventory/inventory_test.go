// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

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
		told   run.Inventory
		want   List
	}{
		"all there is takes the place of what was known": {
			before: &List{Resources: []run.Resource{resource("x")}, Incomplete: true},
			told:   run.Inventory{Complete: true, Resources: []run.Resource{resource("b"), resource("a")}},
			want:   List{Resources: []run.Resource{resource("a"), resource("b")}},
		},
		"a part changes, adds and removes, and leaves the rest": {
			before: &List{Resources: []run.Resource{resource("a"), resource("b"), resource("c")}},
			told:   run.Inventory{Resources: []run.Resource{changed, resource("d")}, Gone: []string{urn("b")}},
			want:   List{Resources: []run.Resource{changed, resource("c"), resource("d")}},
		},
		"what is made again after it was deleted is there": {
			before: &List{Resources: []run.Resource{resource("a")}},
			told:   run.Inventory{Resources: []run.Resource{changed}, Gone: []string{urn("a")}},
			want:   List{Resources: []run.Resource{changed}},
		},
		"IDs that a run had no room for are missing": {
			told: run.Inventory{Complete: true, Resources: []run.Resource{resource("a")}, LeftOut: 1, WithoutIDs: true},
			want: List{Resources: []run.Resource{resource("a")}, LeftOut: 1, WithoutIDs: true},
		},
		"also where others are known": {
			before: &List{Resources: []run.Resource{resource("a")}},
			told:   run.Inventory{Resources: []run.Resource{resource("b")}, WithoutIDs: true},
			want:   List{Resources: []run.Resource{resource("a"), resource("b")}, WithoutIDs: true},
		},
		"a part where nothing was known may not be all": {
			told: run.Inventory{Resources: []run.Resource{resource("a")}},
			want: List{Resources: []run.Resource{resource("a")}, Incomplete: true},
		},
		"nor is what some events are missing of": {
			before: &List{Resources: []run.Resource{resource("a")}},
			told:   run.Inventory{Missed: true},
			want:   List{Resources: []run.Resource{resource("a")}, Incomplete: true},
		},
		"and it stays so until all is known": {
			before: &List{Resources: []run.Resource{resource("a")}, Incomplete: true, LeftOut: 2},
			told:   run.Inventory{Resources: []run.Resource{resource("b")}},
			want:   List{Resources: []run.Resource{resource("a"), resource("b")}, Incomplete: true, LeftOut: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Merge(test.before, test.told)).To(Equal(test.want))
		})
	}
}

// many makes resources whose IDs are drawn, as those of a cloud are: they are what does not get smaller.
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

func TestWhatDoesNotFitIsSaid(t *testing.T) {
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
