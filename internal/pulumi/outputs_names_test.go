// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestOutputsKeepTheNamesThatAreWritten(t *testing.T) {
	g := NewWithT(t)
	written := writtenNames{}
	written.addProgram([]byte("resources: {port: {}}\noutputs:\n  host: h1\n  nested: {host: '${pw}', list: [{port: 1}]}\n"))
	g.Expect(written).To(Equal(writtenNames{"host": true, "nested": true, "list": true, "port": true}))
	written.addProgram([]byte("outputs: ["))
	m := mask.New([]string{"host", "port"})
	g.Expect(showOutputs(map[string]json.RawMessage{
		"host": quote("host"), "database_host": quote("d"), "nested": json.RawMessage(`{"host":1,"hosts":2}`),
	}, m, written)).To(Equal(map[string]json.RawMessage{
		"host": quote("***"), "database_***": quote("d"), "nested": json.RawMessage(`{"***s":2,"host":1}`),
	}))
}

func TestNoOutputIsLostForItsName(t *testing.T) {
	g := NewWithT(t)
	shown := showOutputs(map[string]json.RawMessage{
		"host": json.RawMessage(`1`), "port": json.RawMessage(`2`), "***": json.RawMessage(`3`), "***-3": json.RawMessage(`4`),
		"nested": json.RawMessage(`{"host":1,"port":2}`),
	}, mask.New([]string{"host", "port"}), nil)
	g.Expect(shown).To(Equal(map[string]json.RawMessage{
		"***": json.RawMessage(`3`), "***-3": json.RawMessage(`4`), "***-2": json.RawMessage(`1`), "***-4": json.RawMessage(`2`),
		"nested": json.RawMessage(`{"***":1,"***-2":2}`),
	}))
}

func BenchmarkManyNamesThatAreMasked(b *testing.B) {
	var names []string
	for i := range 3000 {
		names = append(names, fmt.Sprintf("secret-%05d", i))
	}
	for b.Loop() {
		writtenNames{}.shown(names, mask.New(names))
	}
}
