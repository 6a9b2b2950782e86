// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// leftOut are the fields of a result that may be missing in a status that the API server
// refused with them: a person can do without them, or finds them in the state.
var leftOut = []string{
	"Warnings", "Outputs", "Plain", "LeftOut", "OutputsMissed", "Inventory", "Log", "Tail", "Permalink",
}

func TestARefusedResultKeepsAllThatLaterRunsNeed(t *testing.T) {
	full := &run.Result{
		Outcome: run.Failed, Operation: run.Update, Approved: "sha256:aa", Message: "boom", Warnings: []string{"w"}, Outputs: map[string]json.RawMessage{"a": nil}, Plain: &run.PlainOutputs{},
		LeftOut: 1, OutputsMissed: true, Changes: run.Changes{Created: 1}, Project: run.Project{Name: "app"}, Backend: "file:///state",
		Interrupted: true, Refreshed: true, Emptied: true, UnknownCreates: []string{"urn:a"}, Forgotten: []string{"urn:b"}, Inventory: &run.Inventory{},
		Plan: &plan.Plan{}, Done: &plan.Plan{}, Drift: &run.Drift{}, Violations: run.Violations{Mandatory: map[string]int{"guard": 1}}, Log: &run.Log{}, Tail: &run.Log{}, Permalink: "https://example.com", StartedAt: started, EndedAt: started.Add(time.Second),
	}
	small := WithoutDetails(full, errors.New("no"))
	for i := range reflect.TypeFor[run.Result]().NumField() {
		field := reflect.TypeFor[run.Result]().Field(i).Name
		t.Run(field, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(reflect.ValueOf(*full).Field(i).IsZero()).To(BeFalse(), "the test does not set it")
			kept := !reflect.ValueOf(*small).Field(i).IsZero()
			g.Expect(kept).NotTo(Equal(slices.Contains(leftOut, field)), "it is to be kept by essentials, or listed in leftOut")
		})
	}
}
