// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"testing"

	. "github.com/onsi/gomega"
	p "github.com/pulumi/pulumi-go-provider"
)

func TestCheck(t *testing.T) {
	hang := func(op string) *string { return &op }
	for name, test := range map[string]struct {
		args        Args
		nameUnknown bool
		want        []string
	}{
		"a name is enough":                     {args: Args{Name: "a"}},
		"a name must not be empty":             {args: Args{}, want: []string{"name"}},
		"a name must not be a path":            {args: Args{Name: "../a"}, want: []string{"name"}},
		"a name that is not known yet is fine": {args: Args{}, nameUnknown: true},
		"each operation may be delayed": {args: Args{Name: "a",
			Delays: map[string]string{"create": "1s", "read": "10ms", "update": "", "delete": "1h", "afterCreate": "1s"}}},
		"a delay is a duration":        {args: Args{Name: "a", Delays: map[string]string{"create": "soon"}}, want: []string{"delays"}},
		"a delay is not negative":      {args: Args{Name: "a", Delays: map[string]string{"create": "-1s"}}, want: []string{"delays"}},
		"a delay is an hour at most":   {args: Args{Name: "a", Delays: map[string]string{"create": "61m"}}, want: []string{"delays"}},
		"only operations are delayed":  {args: Args{Name: "a", Delays: map[string]string{"partialCreate": "1s"}}, want: []string{"delays"}},
		"an operation may take memory": {args: Args{Name: "a", Ballast: map[string]string{"create": "16Mi", "update": "", "delete": "4096Mi"}}},
		"ballast has a unit":           {args: Args{Name: "a", Ballast: map[string]string{"create": "16"}}, want: []string{"ballast"}},
		"ballast is not negative":      {args: Args{Name: "a", Ballast: map[string]string{"create": "-1Mi"}}, want: []string{"ballast"}},
		"ballast is 4 GiB at most":     {args: Args{Name: "a", Ballast: map[string]string{"create": "4097Mi"}}, want: []string{"ballast"}},
		"only operations take memory":  {args: Args{Name: "a", Ballast: map[string]string{"afterCreate": "1Mi"}}, want: []string{"ballast"}},
		"each operation may fail": {args: Args{Name: "a",
			Failures: map[string]string{"create": "no", "read": "no", "update": "no", "delete": "no", "partialCreate": "no"}}},
		"only operations fail":     {args: Args{Name: "a", Failures: map[string]string{"Create": "no"}}, want: []string{"failures"}},
		"an operation may hang":    {args: Args{Name: "a", Hang: hang("delete")}},
		"an empty hang is none":    {args: Args{Name: "a", Hang: hang("")}},
		"only operations are held": {args: Args{Name: "a", Hold: hang("preview")}, want: []string{"hold"}},
		"only operations hang":     {args: Args{Name: "a", Hang: hang("preview")}, want: []string{"hang"}},
		"every fault is reported": {
			args: Args{Delays: map[string]string{"x": "1s", "y": "1s"}, Failures: map[string]string{"x": ""}, Hang: hang("x")},
			want: []string{"name", "delays", "delays", "failures", "hang"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(properties(check(test.args, !test.nameUnknown))).To(Equal(test.want))
		})
	}
}

func properties(failures []p.CheckFailure) []string {
	var names []string
	for _, failure := range failures {
		names = append(names, failure.Property)
	}
	return names
}
