// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatARecoveryRefreshes(t *testing.T) {
	in := func(urn, kind string) string { return fmt.Sprintf(`{"urn":%q,"type":%q}`, urn, kind) }
	op := func(kind, urn string) string { return fmt.Sprintf(`{"type":%q,"resource":{"urn":%q}}`, kind, urn) }
	many, known := []string{}, []string{in(stackURN, stackType), in(thingURN, "lab:index:Thing")}
	for i := range maxTargets + 1 {
		urn := fmt.Sprintf("%s%d", thingURN, i)
		many, known = append(many, op("updating", urn)), append(known, in(urn, "lab:index:Thing"))
	}
	for name, test := range map[string]struct {
		resources, pending []string
		want               []string
		wantCreates        []string
		settled            bool
	}{
		"nothing was in flight":                      {resources: known, want: []string{stackURN}, settled: true},
		"updates and deletions":                      {resources: known, pending: []string{op("updating", thingURN), op("deleting", thingURN), op("deleting", thingURN+"1")}, want: []string{thingURN, thingURN + "1"}},
		"creations alone":                            {resources: known, pending: []string{op("creating", thingURN)}, want: []string{stackURN}, wantCreates: []string{thingURN}},
		"a creation beside an update":                {resources: known, pending: []string{op("creating", thingURN), op("updating", thingURN+"1")}, want: []string{thingURN + "1"}, wantCreates: []string{thingURN}},
		"an import of what is not in the state":      {resources: known, pending: []string{op("importing", "new"), op("updating", thingURN)}},
		"a state without an entry for the stack":     {pending: []string{op("creating", thingURN)}, wantCreates: []string{thingURN}},
		"more than can be named to a single process": {resources: known, pending: many},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			read, err := parseState(fmt.Appendf(nil, `{"version":3,"deployment":{"resources":[%s],"pending_operations":[%s]}}`,
				strings.Join(test.resources, ","), strings.Join(test.pending, ",")))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(read.targets()).To(Equal(test.want))
			g.Expect(read.creates).To(Equal(test.wantCreates))
			g.Expect(read.settled()).To(Equal(test.settled))
		})
	}
}

func TestAStateWithBigPropertiesTakesLittleMemory(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	thing := func(n int) string {
		return fmt.Sprintf(`{"urn":"%s%d","custom":true,"id":"%d","type":"lab:index:Thing","inputs":{"v":"%s"},"outputs":{"v":"x"},"parent":%q}`,
			thingURN, n, n, strings.Repeat("x", 8<<20), stackURN)
	}
	writeTree(t, dir, map[string]string{"state.json": `{"version":3,"deployment":{"resources":[` + thing(1) + `,` + thing(2) + `,` +
		`{"urn":"gone","custom":true,"id":"3","type":"lab:index:Thing","pendingReplacement":true}` +
		`],"pending_operations":[{"type":"creating","resource":` + thing(4) + `}]}}`})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read, err := readState(filepath.Join(dir, "state.json"))
	runtime.ReadMemStats(&after)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.managed).To(HaveExactElements(HaveField("ID", "1"), HaveField("ID", "2")), "what was deleted to be replaced is gone")
	g.Expect(read.creates).To(Equal([]string{thingURN + "4"}))
	g.Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 8<<20))
}

// A run that does not know of them would not mask them in what a refresh or a destroy says.
func TestTheSecretsOfAStateAreNoticedInPropertiesOfAnySize(t *testing.T) {
	const secret = `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"%s"}`
	small, big := fmt.Sprintf(secret, "x"), strings.Repeat("x", 600<<10)
	part := fmt.Sprintf("%q", big[:400<<10])
	for name, test := range map[string]struct {
		resources, pending string
		want               bool
	}{
		"none":                        {`{"inputs":{"a":"` + big + `"}}`, "", false},
		"a small one":                 {`{"inputs":{"a":` + small + `}}`, "", true},
		"a big one":                   {`{"inputs":{"a":` + fmt.Sprintf(secret, big) + `}}`, "", true},
		"within a big property":       {`{"outputs":{"a":[` + small + `,"` + big + `"]}}`, "", true},
		"after many big properties":   {`{"inputs":{"a":` + part + `,"b":` + part + `,"c":` + part + `,"d":` + small + `}}`, "", true},
		"in an operation in flight":   {"", `{"type":"updating","resource":{"inputs":{"a":` + fmt.Sprintf(secret, big) + `}}}`, true},
		"a text that looks like them": {`{"inputs":{"a":"1b47061264138c4ac30d75fd1eb442701b47061264138c4ac30d75fd1eb44270` + big + `"}}`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g, dir := NewWithT(t), t.TempDir()
			writeTree(t, dir, map[string]string{"state.json": fmt.Sprintf(`{"deployment":{"resources":[%s],"pending_operations":[%s]}}`, test.resources, test.pending)})
			read, err := readState(filepath.Join(dir, "state.json"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(read.contents.hasSecrets).To(Equal(test.want))
		})
	}
}
