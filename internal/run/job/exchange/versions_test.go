// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
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

// firstInput is the Input as the pods of the first version read it.
type firstInput struct {
	Run struct {
		ID, Namespace, Name, Stack, Backend, Operation string
		Timeout                                        time.Duration
	}
}

// The first pods take an operation that they do not know for an update, and know no approved plan.
func TestAPodOfTheFirstVersionDoesNothingThatItDoesNotKnow(t *testing.T) {
	plain := func(operation run.Operation) run.Run {
		return run.Run{
			ID: "1", Namespace: "default", Name: "app", Stack: "dev", Backend: "s3://state", Operation: operation, Timeout: time.Hour, InspectFirst: true,
			Program: run.Program{YAML: []byte("resources: {}\n")}, Config: map[string]json.RawMessage{"app:a": json.RawMessage("1")}, Secrets: map[string]string{"app:s": "hush"},
		}
	}
	held := plain(run.Update)
	held.Approved = "sha256:aa"
	first := []run.Operation{"update", "destroy", "recover", "preview", "outputs"} // never add to these
	runs := []run.Run{held, plain("of-a-later-version")}
	for _, kind := range run.Kinds() {
		runs = append(runs, plain(kind.Operation))
	}
	guarded := plain(run.Update)
	guarded.Policies = []run.PolicyPack{{Set: "base", Name: "tags"}}
	runs = append(runs, guarded)
	for _, todo := range runs {
		t.Run(string(todo.Operation)+todo.Approved, func(t *testing.T) {
			g := NewWithT(t)
			data, digest, err := EncodeInput(Input{Run: todo, Nonce: "random"})
			g.Expect(err).NotTo(HaveOccurred())
			var read firstInput
			g.Expect(bounded.Unpack(data, mostOfRun(), &read)).To(Succeed())
			g.Expect(read.Run.ID).To(Equal("1"))
			g.Expect(read.Run.Timeout).To(Equal(time.Hour))
			if slices.Contains(first, todo.Operation) && todo.Approved == "" && todo.Policies == nil {
				g.Expect(read.Run.Operation).To(BeEquivalentTo(todo.Operation))
				g.Expect(read.Run.Stack).To(Equal("dev"))
			} else {
				g.Expect(read.Run.Operation).To(Equal("preview"))
				g.Expect(read.Run.Stack+read.Run.Backend).To(BeEmpty(), "without a stack, no version starts Pulumi")
			}
			g.Expect(DecodeInput(data, digest)).To(Equal(Input{Run: todo, Nonce: "random"}), "this version knows what is meant")
		})
	}
}

// Pods of the second version know approved plans, and no policy packs.
func TestAPodOfTheSecondVersionDoesNotRunUnguarded(t *testing.T) {
	g := NewWithT(t)
	const second = 2
	for _, operation := range []run.Operation{run.Update, run.Preview, run.Propose, run.CheckPolicies} {
		guarded := run.Run{Operation: operation, Policies: []run.PolicyPack{{Set: "base", Name: "tags"}}}
		g.Expect(forAllPods(Input{Run: guarded}).Needs).To(BeNumerically(">", second), string(operation))
	}
	g.Expect(forAllPods(Input{Run: run.Run{Operation: run.Propose}}).Needs).To(Equal(second), "a pod of the second version is good enough without")
}

func TestARunOfALaterVersionIsRefused(t *testing.T) {
	g := NewWithT(t)
	data, _, err := bounded.Pack(sent{Newer: &run.Run{Operation: run.Update}, Needs: version + 1})
	g.Expect(err).NotTo(HaveOccurred())
	sum := sha256.Sum256(data)
	_, err = DecodeInput(data, "sha256:"+hex.EncodeToString(sum[:]))
	g.Expect(err).To(MatchError(And(HavePrefix("reading the run: "), ContainSubstring("--runner-image"))))
}
