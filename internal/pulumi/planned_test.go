// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// planFrom is the plan of the events.
func planFrom(lines ...string) plan.Plan {
	s := &session{mask: mask.New([]string{"hunter2"}), run: run.Run{PlanKey: "key"}}
	s.events = &events{mask: s.mask, preview: true, planned: &plannedSteps{read: s.valueReader()}}
	readAll(s.events, lines...)
	return *s.plan()
}

func createLine(name, inputs string) string {
	return fmt.Sprintf(`{"resOutputsEvent":{"metadata":{"op":"create","urn":"urn:pulumi:dev::demo::lab:index:Thing::%s","type":"lab:index:Thing","logical":true,`+
		`"new":{"custom":true,"id":"","inputs":%s}}}}`, name, inputs)
}

// A value of any size is part of the plan, whether it is shown or not.
func TestValuesThatAreTooBigAreHashed(t *testing.T) {
	for _, size := range []int{100, plan.MaxValue, maxKeptValue, 512 << 10, 3 << 20} {
		value := func(end string) string {
			return createLine("a", `{"big":"`+strings.Repeat("x", size)+end+`","more":"`+strings.Repeat("y", size)+`"}`)
		}
		g := NewWithT(t)
		one := planFrom(value("1"))
		g.Expect(planFrom(value("1")).Digest()).To(Equal(one.Digest()))
		g.Expect(planFrom(value("2")).Digest()).NotTo(Equal(one.Digest()), "%d bytes", size)
		g.Expect(one.Size()).To(BeNumerically("<", 4*plan.MaxValue))
	}
}

func TestAPlanOfManyResourcesIsBounded(t *testing.T) {
	g := NewWithT(t)
	var lines []string
	for n := range plan.MaxSteps + 10 {
		lines = append(lines, createLine(fmt.Sprintf("r%05d", n), `{"a":"`+strings.Repeat("x", 100)+`"}`))
	}
	made := planFrom(lines...)
	g.Expect(made.Steps).To(HaveLen(plan.MaxSteps))
	g.Expect(made.Counts()).To(Equal(plan.Counts{Create: plan.MaxSteps + 10}))
	lines[0], lines[plan.MaxSteps+5] = lines[plan.MaxSteps+5], lines[0]
	g.Expect(planFrom(lines...).Digest()).To(Equal(made.Digest()), "the engine reports steps in any order")
	lines[3] = strings.Replace(lines[3], "xxx", "xxy", 1)
	g.Expect(planFrom(lines...).Digest()).NotTo(Equal(made.Digest()))
}

func TestWhatAPlanShows(t *testing.T) {
	for name, test := range map[string]struct{ value, want string }{
		"a big number":      {`12345678901234567890.123`, `12345678901234567890.123`},
		"a mask":            {`{"hunter2":["hunter2"]}`, `{"***":["***"]}`},
		"a secret":          {`{"a":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"x"}}`, `{"a":"[secret]"}`},
		"an unknown number": {`["3eeb2bf0-c639-47a8-9e75-3b44932eb421"]`, `["[unknown]"]`},
		"an asset":          {`{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"01","path":"/tmp/run"}`, `"[asset sha256:01]"`},
		"an archive":        {`{"4dabf18193072939515e22adb298388d":"0def7320c3a5731c473e5ecbe6d01bc7","hash":"02"}`, `"[archive sha256:02]"`},
		"a resource":        {`{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e","urn":"u","id":"i"}`, `{"id":"i","urn":"u"}`},
		"null":              {`null`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			made := planFrom(createLine("a", `{"p":`+test.value+`}`))
			NewWithT(t).Expect(made.Steps[0].Properties).To(ConsistOf(HaveField("New", json.RawMessage(test.want))))
		})
	}
	other := func(path string) string {
		return planFrom(createLine("a", `{"p":{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"01","path":"`+path+`"}}`)).Digest()
	}
	NewWithT(t).Expect(other("/tmp/run-1")).To(Equal(other("/tmp/run-2")), "the path of an asset is that of the run")
}
