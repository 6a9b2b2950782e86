// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestTheLinesOfARun(t *testing.T) {
	g := NewWithT(t)
	log := `{"level":"info","ts":"2026-03-02T10:15:30.000Z","msg":"starting"}
{"level":"info","ts":"2026-03-02T10:15:42.500Z","msg":"t:i:T (a): create started","name":"network","run":"01"}
{"level":"info","ts":"2026-03-02T10:15:42.600Z","msg":"t:i:T (b): create started","name":"cluster","run":"02"}
` + `{"msg":"` + strings.Repeat("x", 2*maxLine) + `","run":"01"}
{"level":"info","ts":"yesterday","msg":"no time","run":"01"}
panic: no JSON
{"level":"info","ts":"2026-03-02T10:15:43.000Z","msg":"the last line","run":"01"}`
	var seen []string
	g.Expect(OfRun(strings.NewReader(log), "01", func(line run.LogLine) {
		seen = append(seen, line.At.Format("05.0 ")+line.Text)
	})).To(Succeed())
	g.Expect(seen).To(Equal([]string{"42.5 t:i:T (a): create started", "43.0 the last line"}))
}
