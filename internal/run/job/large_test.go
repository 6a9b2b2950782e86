// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// large is a result with an inventory of more than keptMost bytes.
func large() run.Result {
	return run.Result{
		Outcome: run.Succeeded, Changes: run.Changes{Created: 1},
		Outputs:   map[string]json.RawMessage{"a": json.RawMessage(`"b"`)},
		Inventory: &run.Inventory{Complete: true, Resources: make([]run.Resource, 2000)},
	}
}

func TestALargeResultStaysInItsSecretUntilItIsAbsorbed(t *testing.T) {
	s := claimedRun(t)
	s.write(large())
	s.step()
	kept := s.runs[s.key].result
	s.Expect(kept.Outcome).To(Equal(run.Succeeded))
	s.Expect(kept.Outputs).To(BeNil())
	s.Expect(kept.Inventory).To(Equal(&run.Inventory{Missed: true}))
	for range 2 { // the status may not take it at first
		s.Expect(s.ended().Inventory.Resources).To(HaveLen(2000))
		s.Expect(s.ended().Inventory.Complete).To(BeTrue())
		s.Expect(s.ended().Outputs).To(HaveKey("a"))
		s.Expect(s.ended().Changes.Created).To(Equal(1))
	}
	s.Expect(s.runs[s.key].result).To(BeIdenticalTo(kept))

	next := s.next()
	next.step()
	next.Expect(next.runs[next.key].result.Outputs).To(BeNil())
	next.Expect(next.ended().Inventory.Resources).To(HaveLen(2000))
}

func TestALargeResultThatCannotBeReadAgainIsNotLost(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *started)
		phase  run.Phase
	}{
		"the API server is away": {func(s *started) { s.api.unreadable = errors.New("connection refused") }, run.Running},
		"the Secret is gone":     {func(s *started) { s.Expect(s.api.WithWatch.Delete(t.Context(), s.secret())).To(Succeed()) }, run.Ended},
		"the result is gone":     {func(s *started) { s.replace(nil) }, run.Ended},
		"the result is invalid":  {func(s *started) { s.replace([]byte("x")) }, run.Ended},
	} {
		t.Run(name, func(t *testing.T) {
			s := claimedRun(t)
			s.write(large())
			s.step()
			tt.change(s)
			phase, result := s.Look(run.Ref{ID: "1", Namespace: "default"})
			s.Expect(phase).To(Equal(tt.phase))
			if tt.phase == run.Running {
				s.api.unreadable = nil
				s.Expect(s.ended().Inventory.Resources).To(HaveLen(2000), "it is read again")
				return
			}
			s.Expect(result.Outcome).To(Equal(run.Succeeded))
			s.Expect(result.Changes.Created).To(Equal(1))
			s.Expect(result.Inventory).To(Equal(&run.Inventory{Missed: true}), "the next run lists all")
		})
	}
}

func TestAStackWhoseLargeResultCouldNotBeReadIsWoken(t *testing.T) {
	t.Parallel() // it waits for a retry
	woken := &calls{}
	s := claimedRun(t, func(o *Options) { o.Wake = woken.ended })
	s.write(large())
	s.step()
	woken.list()
	s.api.unreadable = errors.New("connection refused")
	for range 3 {
		phase, _ := s.Look(runOfApp)
		s.Expect(phase).To(Equal(run.Running))
	}
	s.Eventually(woken.list).Should(Equal([]string{"default/app"}), "once")
	_, waits := s.wakes.waiting.Load(runOfApp)
	s.Expect(waits).To(BeFalse())
}

// replace replaces the result in the Secret.
func (s *started) replace(data []byte) {
	s.test.Helper()
	secret := s.secret()
	secret.Data[exchange.ResultKey] = data
	s.Expect(s.api.Update(s.test.Context(), secret)).To(Succeed())
}

func TestASmallResultIsReadOnce(t *testing.T) {
	s := claimedRun(t)
	s.write(run.Result{Outcome: run.Succeeded, Outputs: map[string]json.RawMessage{"a": json.RawMessage(`"b"`)}})
	s.step()
	s.Expect(s.api.WithWatch.Delete(t.Context(), &corev1.Secret{ObjectMeta: s.secret().ObjectMeta})).To(Succeed())
	s.Expect(s.ended().Outputs).To(HaveKey("a"))
}

func TestWhichResultsAreLarge(t *testing.T) {
	text := strings.Repeat("x", keptMost)
	raw := map[string]json.RawMessage{"a": json.RawMessage(text)}
	for name, tt := range map[string]struct {
		result run.Result
		want   bool
	}{
		"none of it":       {run.Result{Message: "x"}, false},
		"a few":            {run.Result{Outputs: map[string]json.RawMessage{"a": nil}, Plan: &plan.Plan{Steps: make([]plan.Step, 10)}}, false},
		"outputs":          {run.Result{Outputs: raw}, true},
		"plain outputs":    {run.Result{Plain: &run.PlainOutputs{Values: raw}}, true},
		"a URN":            {run.Result{Inventory: &run.Inventory{Resources: []run.Resource{{URN: text}}}}, true},
		"an ID":            {run.Result{Inventory: &run.Inventory{Resources: []run.Resource{{ID: text}}}}, true},
		"one that is gone": {run.Result{Inventory: &run.Inventory{Gone: []string{text}}}, true},
		"a step":           {run.Result{Plan: &plan.Plan{Steps: []plan.Step{{URN: text}}}}, true},
		"a value of a step": {run.Result{Plan: &plan.Plan{Steps: []plan.Step{{Properties: []plan.Property{
			{Change: plan.Change{New: json.RawMessage(text)}}}}}}}, true},
		"what was done": {run.Result{Done: &plan.Plan{Steps: []plan.Step{{URN: text}}}}, true},
		"drift":         {run.Result{Drift: &run.Drift{Found: plan.Plan{Steps: []plan.Step{{URN: text}}}}}, true},
		"many steps":    {run.Result{Plan: &plan.Plan{Steps: make([]plan.Step, 2000)}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			light, dropped := lighten(&tt.result)
			g.Expect(dropped).To(Equal(tt.want))
			g.Expect(light.Message).To(Equal(tt.result.Message))
			g.Expect(weight(light)).To(BeNumerically("<=", keptMost))
		})
	}
}
