// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestWhatIsIgnored(t *testing.T) {
	const kind, urn = "aws:s3/bucket:Bucket", "urn:pulumi:dev::site::aws:s3/bucket:Bucket::assets"
	for _, test := range []struct {
		name string
		rule v1.IgnoredDrift
		path string
		want bool
	}{
		{"the whole resource, by type", v1.IgnoredDrift{Type: kind}, "tags.env", true},
		{"by URN", v1.IgnoredDrift{URN: urn}, "tags.env", true},
		{"another type", v1.IgnoredDrift{Type: "aws:s3/bucket:BucketPolicy"}, "tags.env", false},
		{"a part of the type", v1.IgnoredDrift{Type: "aws:s3/bucket"}, "tags.env", false},
		{"a pattern for the type", v1.IgnoredDrift{Type: "aws:s3/*"}, "tags.env", true},
		{"a pattern for the end of the URN", v1.IgnoredDrift{URN: "*::assets"}, "tags.env", true},
		{"a pattern for both ends", v1.IgnoredDrift{URN: "*s3*Bucket*"}, "tags.env", true},
		{"a pattern whose parts overlap", v1.IgnoredDrift{URN: urn + "*assets"}, "tags.env", false},
		{"a pattern in the wrong order", v1.IgnoredDrift{URN: "*assets*Bucket*"}, "tags.env", false},
		{"the type matches, and the URN does not", v1.IgnoredDrift{Type: kind, URN: "*::logs"}, "tags.env", false},
		{"both match", v1.IgnoredDrift{Type: kind, URN: "*::assets"}, "tags.env", true},
		{"a property", v1.IgnoredDrift{Type: kind, Paths: []string{"tags.env"}}, "tags.env", true},
		{"another property", v1.IgnoredDrift{Type: kind, Paths: []string{"tags.env"}}, "tags.team", false},
		{"what is below a property", v1.IgnoredDrift{Type: kind, Paths: []string{"tags"}}, "tags.env", true},
		{"what a property is below of", v1.IgnoredDrift{Type: kind, Paths: []string{"tags.env"}}, "tags", false},
		{"a property whose name begins the same", v1.IgnoredDrift{Type: kind, Paths: []string{"tag"}}, "tags", false},
		{"any element", v1.IgnoredDrift{Type: kind, Paths: []string{"rules[*].port"}}, "rules[3].port", true},
		{"one element", v1.IgnoredDrift{Type: kind, Paths: []string{"rules[0].port"}}, "rules[3].port", false},
		{"a quoted name", v1.IgnoredDrift{Type: kind, Paths: []string{`tags["app.kubernetes.io/name"]`}}, `tags["app.kubernetes.io/name"]`, true},
		{"an empty name", v1.IgnoredDrift{Type: kind, Paths: []string{`tags[""]`}}, `tags[""]`, true},
		{"no other name than an empty one", v1.IgnoredDrift{Type: kind, Paths: []string{`tags[""]`}}, "tags.env", false},
		{"a number as a name", v1.IgnoredDrift{Type: kind, Paths: []string{`tags["80"]`}}, "tags.80", true},
		{"an index, which is no name", v1.IgnoredDrift{Type: kind, Paths: []string{"tags[80]"}}, "tags.80", false},
		{"the second path", v1.IgnoredDrift{Type: kind, Paths: []string{"acl", "tags"}}, "tags.env", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			ignore, err := NewIgnore([]v1.IgnoredDrift{test.rule})
			g.Expect(err).NotTo(HaveOccurred())
			path, err := ParsePath(test.path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ignore.Of(kind, urn).Covers(path)).To(Equal(test.want))
		})
	}
}

func TestRulesAddUp(t *testing.T) {
	g := NewWithT(t)
	ignore, err := NewIgnore([]v1.IgnoredDrift{{Type: "a", Paths: []string{"x"}}, {URN: "u", Paths: []string{"list[*].y"}}, {Type: "b"}})
	g.Expect(err).NotTo(HaveOccurred())
	paths := ignore.Of("a", "u")
	g.Expect(paths.All).To(BeFalse())
	g.Expect(paths.Covers([]any{"x", "deep"})).To(BeTrue())
	g.Expect(paths.Covers([]any{"list", 7, "y"})).To(BeTrue())
	g.Expect(paths.Within([]any{"list"})).To(BeTrue())
	g.Expect(paths.Within([]any{"list", 7})).To(BeTrue())
	g.Expect(paths.Within([]any{"list", 7, "y"})).To(BeFalse(), "it is ignored itself")
	g.Expect(paths.Within([]any{"other"})).To(BeFalse())
	g.Expect(ignore.Of("b", "u").All).To(BeTrue())
	g.Expect(ignore.Of("c", "v").Covers([]any{"x"})).To(BeFalse())
}

func TestRuleIsRefused(t *testing.T) {
	for path, want := range map[string]string{
		"": "no name", ".": "no name", "tags.": "ends with no name", "tags[": "not closed", `tags["env`: "not closed", `tags["env"`: "not closed", "rules[x]": "needs quotes", "a..b": "empty",
	} {
		_, err := NewIgnore([]v1.IgnoredDrift{{Type: "a", Paths: []string{"ok", path}}})
		NewWithT(t).Expect(err).To(MatchError(And(HavePrefix("spec.drift.ignore[0].paths[1]: "), ContainSubstring(want))), path)
	}
	_, err := NewIgnore([]v1.IgnoredDrift{{Paths: []string{"tags"}}})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("needs a type or a urn")))
}

// FuzzPaths compares the paths with those of Pulumi: what is taken for a path is the same one.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"tags.env", "rules[*].port", `tags["a.b"].c`, `["a \"b\""][100]`, "a.[0]", "a..b", ".a", "a.", "a[", `a["`, "a]b", "*", "a.*", "a[-1]", `a["b"]c`, "a[+1]", "a[ 1]", `a\["b"]`, "a.[.b"} {
		f.Add(seed, seed)
	}
	f.Add("rules[*].port", "rules[3].port")
	f.Add("rules[*]", "rules.x")
	f.Add("tags", "tags.env")
	f.Add("tags.env", "tags")
	f.Fuzz(func(t *testing.T, text, other string) {
		g := NewWithT(t)
		var ours [2][]any
		var theirs [2]resource.PropertyPath
		for n, text := range []string{text, other} {
			var err error
			if ours[n], err = ParsePath(text); err != nil {
				return // Pulumi takes more: an empty path, and empty names
			}
			theirs[n], err = resource.ParsePropertyPath(text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(resource.PropertyPath(ours[n])).To(Equal(theirs[n]))
		}
		g.Expect(contains(ours[0], ours[1])).To(Equal(theirs[0].Contains(theirs[1])), "%s contains %s", text, other)
	})
}
