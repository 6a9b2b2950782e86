// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A pod continues while its controller is upgraded, so a controller reads what pods of the version before have written. Do
// not change these texts: a field may be added, and none renamed.

func TestTheResultOfAnEarlierVersionIsRead(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("testdata/result.json")
	g.Expect(err).NotTo(HaveOccurred())
	data, _, err := bounded.Pack(json.RawMessage(text))
	g.Expect(err).NotTo(HaveOccurred())
	end := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	read, err := DecodeResult(data, end)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*read).To(Equal(run.Result{
		Outcome: run.Failed, Message: "the bucket is not empty", Outputs: map[string]json.RawMessage{"url": quoted("[secret]")}, LeftOut: 1,
		Changes: run.Changes{Created: 1, Updated: 2, Deleted: 3, Replaced: 4, Same: 5}, Project: run.Project{Name: "app", Runtime: "yaml"},
		Backend: "s3://state", Interrupted: true, UnknownCreates: []string{"urn:lost"}, Forgotten: []string{"urn:forgotten"},
		Inventory: &run.Inventory{
			Complete: true, LeftOut: 2, WithoutIDs: true, Missed: true, Gone: []string{"urn:gone"},
			Resources: []run.Resource{{URN: "urn:a", Type: "lab:index:Thing", ID: "a-1", Parent: "urn:b", Protected: true, External: true}},
		},
		Plan: &plan.Plan{
			Steps: []plan.Step{{Op: "update", URN: "urn:a", Type: "lab:index:Thing", Properties: []plan.Property{{Path: "value"}}}},
			More:  plan.Counts{Other: 3},
		},
		Permalink: "https://app.pulumi.com/x", StartedAt: end.Add(-time.Minute), EndedAt: end,
		Plain: &run.PlainOutputs{Wanted: run.WantedOutputs{Keys: []string{"url"}}, Values: map[string]json.RawMessage{"url": quoted("https://x")}},
	}))
}

func TestTheReportOfAPodOfAnEarlierVersionIsRead(t *testing.T) {
	g := NewWithT(t)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	g.Expect(DecodeClaim([]byte(`{"Pod":"pulumi-run-1-abcde","UID":"u-1","At":"2026-05-01T10:00:00Z"}`))).
		To(Equal(Claim{Pod: "pulumi-run-1-abcde", UID: "u-1", At: at}))
	g.Expect(DecodeProgress([]byte(`{"Progress":{"Done":{"Created":1,"Updated":2,"Deleted":3,"Replaced":4,"Same":5},"InFlight":6,` +
		`"Waiting":"installing the dependencies of the program"},"UnknownCreates":["urn:a"]}`))).
		To(Equal(ProgressReport{
			Progress:       run.Progress{Done: run.Changes{Created: 1, Updated: 2, Deleted: 3, Replaced: 4, Same: 5}, InFlight: 6, Waiting: run.Installing},
			UnknownCreates: []string{"urn:a"},
		}))
}

// The pod of a run may be of another version than its controller.
func TestARunIsWrittenAsByEarlierVersions(t *testing.T) {
	g := NewWithT(t)
	text, err := json.Marshal(run.Run{InspectFirst: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(ContainSubstring(`"Look":true`))
}

// A pod of the version before reads the request of the next controller.
func TestTheRequestToCancelIsWrittenAsByEarlierVersions(t *testing.T) {
	g := NewWithT(t)
	g.Expect(DecodeCancel([]byte("Gently"))).To(Equal(CancelGently))
	g.Expect(DecodeCancel([]byte("Now"))).To(Equal(CancelNow))
	g.Expect([]string{ClaimKey, CancelKey, ProgressKey, ResultKey}).To(Equal([]string{"claim", "cancel", "told", "result"}))
}
