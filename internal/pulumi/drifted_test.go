// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// secretJSON is a secret in an event.
const secretJSON = `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "[secret]"}`

// refreshed is the event of what a refresh has found. old and now have the inputs and outputs of
// the resource, and diff has what the provider says of the difference.
func refreshed(op, old, now, diff string) string {
	if now != "null" {
		now = fmt.Sprintf(`{"custom": true, "id": "1", %s}`, now)
	}
	return fmt.Sprintf(`{"resOutputsEvent": {"metadata": {"op": %q, "urn": %q, "type": "lab:index:Thing", "provider": "p::1", %s"old": {"custom": true, "id": "1", %s}, "new": %s}}}`,
		op, thingURN, diff, strings.ReplaceAll(old, "SECRET", secretJSON), strings.ReplaceAll(now, "SECRET", secretJSON))
}

func foundBy(t *testing.T, line string, rules ...v1.IgnoredDrift) (properties []string, found *drifted) {
	t.Helper()
	ignore, err := drift.NewIgnore(rules)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	found = &drifted{ignore: ignore, found: plannedSteps{read: valueReader{key: []byte("key")}}}
	readAll(&events{mask: mask.New(nil), drifted: found}, line)
	for _, step := range found.result(mask.New(nil)).Found.Steps {
		for _, one := range step.Properties {
			properties = append(properties, fmt.Sprintf("%s %s %s %s", one.Kind, one.Path, one.Old, one.New))
		}
	}
	return properties, found
}

func TestWhatARefreshFindsIsReportedWithBothValues(t *testing.T) {
	for name, test := range map[string]struct {
		old, now, diff string
		rules          []v1.IgnoredDrift
		want           []string
	}{
		"of the inputs of the state, and the outputs that were found": {
			old: `"inputs": {"a": "Wanted"}, "outputs": {"a": "wanted"}`, now: `"inputs": {"a": "asked"}, "outputs": {"a": "real"}`,
			diff: `"detailedDiff": {"a": {"diffKind": "update"}}, `,
			want: []string{`update a "Wanted" "real"`},
		},
		"of the inputs, if the provider compares these": {
			old: `"inputs": {"a": "wanted"}`, now: `"inputs": {"a": "asked"}, "outputs": {"a": "real"}`,
			diff: `"detailedDiff": {"a": {"diffKind": "update-replace", "inputDiff": true}}, `,
			want: []string{`update a "wanted" "asked"`},
		},
		"of an output that the program does not set": {
			old: `"inputs": {}, "outputs": {"a": [1, 2]}`, now: `"inputs": {}, "outputs": {"a": [1, 3]}`,
			diff: `"detailedDiff": {"a[1]": {"diffKind": "update"}}, `,
			want: []string{`update a[1] 2 3`},
		},
		"of what was added and removed": {
			old: `"inputs": {"a": "x"}`, now: `"inputs": {"b": "y"}`,
			diff: `"detailedDiff": {"a": {"diffKind": "delete"}, "b": {"diffKind": "add"}}, `,
			want: []string{`delete a "x" `, `add b  "y"`},
		},
		"where the provider only names properties": {
			old: `"inputs": {"a": {"x": 1, "y": 1}, "b": 1}, "outputs": {"c": 1}`, now: `"inputs": {"a": {"x": 2, "y": 1}, "b": 2}, "outputs": {"c": 2}`,
			diff: `"diffs": ["c", "a", "a"], `,
			want: []string{`update a {"x":1,"y":1} {"x":2,"y":1}`, `update c 1 2`},
		},
		"where the provider only says that there is a difference": {
			old: `"inputs": {"a": 1, "b": 1, "gone": 1}, "outputs": {"a": 1, "c": 1}`, now: `"inputs": {"a": 2, "b": 1, "new": 1}, "outputs": {"a": 2, "c": 2}`,
			want: []string{`update a 1 2`, `delete gone 1 `, `add new  1`},
		},
		"where it only says so of the outputs": {
			old: `"inputs": {"a": 1}, "outputs": {"c": 1}`, now: `"inputs": {"a": 1}, "outputs": {"c": 2}`,
			want: []string{`update c 1 2`},
		},
		"a part of a property that is ignored": {
			old: `"inputs": {"tags": {"a": "1", "b": "1", "same": "1"}}`, now: `"inputs": {"tags": {"a": "2", "b": "2", "same": "1"}}`,
			diff: `"detailedDiff": {"tags": {"diffKind": "update"}}, `, rules: []v1.IgnoredDrift{{Type: "*", Paths: []string{"tags.a"}}},
			want: []string{`update tags.b "1" "2"`},
		},
		"a part of a list that was added": {
			old: `"inputs": {}`, now: `"inputs": {"rules": [{"port": 1, "to": {}}, {"port": 2, "to": [1]}]}`,
			diff: `"detailedDiff": {"rules": {"diffKind": "add"}}, `, rules: []v1.IgnoredDrift{{Type: "*", Paths: []string{"rules[*].port"}}},
			want: []string{`add rules[0].to  {}`, `add rules[1].to[0]  1`},
		},
		"a map that has become a text": {
			old: `"inputs": {"a": {"b": 1}}`, now: `"inputs": {"a": "x"}`,
			diff: `"detailedDiff": {"a": {"diffKind": "update"}}, `, rules: []v1.IgnoredDrift{{Type: "*", Paths: []string{"a.b"}}},
			want: []string{`update a {"b":1} "x"`},
		},
		"all parts of a property that are ignored": {
			old: `"inputs": {"tags": {"a": "1"}}`, now: `"inputs": {"tags": {"a": "2", "b": "2"}}`,
			diff: `"detailedDiff": {"tags": {"diffKind": "update"}}, `, rules: []v1.IgnoredDrift{{Type: "*", Paths: []string{"tags.a"}}, {URN: "*", Paths: []string{"tags[*]"}}},
		},
		"a secret, although the provider does not say that the other value is one": {
			old: `"inputs": {"a": SECRET, "t": {"b": SECRET, "c": "1"}}`, now: `"inputs": {"a": "canary", "t": {"b": "canary", "c": "2"}}, "outputs": {"a": "canary"}`,
			diff: `"diffs": ["a", "t"], `,
			want: []string{`update a "[secret]" "[secret]"`, `update t {"b":"[secret]","c":"1"} {"b":"[secret]","c":"2"}`},
		},
		"secrets in a list, which may have moved": {
			old: `"inputs": {"l": [{"s": SECRET}]}`, now: `"outputs": {"l": [{"s": "x"}, {"s": "canary"}]}`,
			diff: `"detailedDiff": {"l[1].s": {"diffKind": "add"}}, `,
			want: []string{`add l[1].s  "[secret]"`},
		},
		"a secret of which only the outputs know": {
			old: `"inputs": {"a": "1"}, "outputs": {"a": SECRET}`, now: `"inputs": {"a": "canary"}, "outputs": {"a": "canary"}`,
			diff: `"detailedDiff": {"a": {"diffKind": "update", "inputDiff": true}}, `,
			want: []string{`update a "[secret]" "[secret]"`},
		},
		"a secret that has become a map": {
			old: `"inputs": {"a": SECRET}`, now: `"inputs": {"a": {"b": "canary"}}`,
			diff: `"detailedDiff": {"a.b": {"diffKind": "add"}}, `, rules: []v1.IgnoredDrift{{Type: "*", Paths: []string{"a.c"}}},
			want: []string{`add a.b  "[secret]"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			properties, found := foundBy(t, refreshed("update", test.old, test.now, test.diff), test.rules...)
			NewWithT(t).Expect(properties).To(Equal(test.want))
			NewWithT(t).Expect(found.ignored == 1).To(Equal(test.want == nil))
		})
	}
}

func TestWhatARefreshFindsThatIsNoDrift(t *testing.T) {
	const custom = `"old": {"custom": true`
	drifted := refreshed("update", `"inputs": {"a": 1}`, `"inputs": {"a": 2}`, "")
	for name, test := range map[string]struct {
		line string
		want int
	}{
		"a change is drift":                       {drifted, 1},
		"a deletion is drift":                     {refreshed("delete", `"inputs": {}`, "null", ""), 1},
		"a change without details is drift":       {refreshed("update", `"inputs": {"a": 1}`, `"inputs": {"a": 1}`, ""), 1},
		"what is the same":                        {refreshed("same", `"inputs": {"a": 1}`, `"inputs": {"a": 1}`, ""), 0},
		"what the program only reads":             {strings.Replace(drifted, custom, custom+`, "external": true`, 1), 0},
		"what a replacement still has to delete":  {strings.Replace(drifted, custom, custom+`, "delete": true`, 1), 0},
		"a component":                             {strings.Replace(drifted, custom, `"old": {"custom": false`, 1), 0},
		"a provider":                              {strings.Replace(drifted, "lab:index:Thing\",", "pulumi:providers:lab\",", 1), 0},
		"what the program registers in a refresh": {strings.Replace(drifted, `"op"`, `"logical": true, "op"`, 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, found := foundBy(t, test.line)
			NewWithT(t).Expect(found.found.steps).To(HaveLen(test.want))
			NewWithT(t).Expect(found.ignored).To(BeZero())
		})
	}
}

// A part of a property that is left out must not make it another drift, or none.
func TestAPropertyOfTooManyPartsIsNotTakenApart(t *testing.T) {
	long := "[" + strings.Repeat("1,", maxParts) + "1]"
	line := refreshed("update", `"inputs": {}`, `"inputs": {"l": `+long+`}`, `"detailedDiff": {"l": {"diffKind": "add"}}, `)
	properties, _ := foundBy(t, line, v1.IgnoredDrift{Type: "*", Paths: []string{"l[0]"}})
	NewWithT(t).Expect(properties).To(ConsistOf(HavePrefix("add l  [1,1")))
}
