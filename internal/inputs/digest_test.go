// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"reflect"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// set is the input of a digest.
type set struct {
	env     map[string]value
	config  map[string]json.RawMessage
	secrets map[string]value
}

func TestDigestDistinguishesValues(t *testing.T) {
	type values = map[string]value
	type raw = map[string]json.RawMessage
	seen := map[string]string{}
	for name, s := range map[string]set{
		"nothing":                               {},
		"a variable":                            {env: values{"a": {text: "b"}}},
		"another value":                         {env: values{"a": {text: "c"}}},
		"an empty value":                        {env: values{"a": {}}},
		"another name":                          {env: values{"b": {text: "b"}}},
		"two variables":                         {env: values{"a": {text: "b"}, "c": {}}},
		"a value that looks like two variables": {env: values{"a": {text: `b","c":"`}}},
		"one with a comma":                      {env: values{"a": {text: "b,c"}}},
		"the value of a Secret":                 {env: values{"a": {text: "b", secret: "uid-1"}}},
		"another value of it":                   {env: values{"a": {text: "c", secret: "uid-1"}}},
		"the same value of another Secret":      {env: values{"a": {text: "b", secret: "uid-2"}}},
		"a value of the controller":             {env: values{"a": {text: "b", controller: "Env:B"}}},
		"a file of the controller":              {env: values{"a": {text: "b", controller: "FS:/b"}}},
		"a secret config value":                 {secrets: values{"a": {text: "b"}}},
		"a secret config value of a Secret":     {secrets: values{"a": {text: "b", secret: "uid-1"}}},
		"the mark of a value":                   {env: values{"a": {text: value{text: "b", secret: "uid-1"}.mark()}}},
		"a config value":                        {config: raw{"a": json.RawMessage(`"b"`)}},
		"a number":                              {config: raw{"a": json.RawMessage(`1`)}},
		"the same number, written differently":  {config: raw{"a": json.RawMessage(`1.0`)}},
		"a number in a string":                  {config: raw{"a": json.RawMessage(`"1"`)}},
		"null":                                  {config: raw{"a": json.RawMessage(`null`)}},
	} {
		g := NewWithT(t)
		digest, err := digestOf(s.env, s.config, s.secrets)
		g.Expect(err).ToNot(HaveOccurred())
		g.Expect(seen).ToNot(HaveKey(digest), "%s", name)
		seen[digest] = name
	}
}

func TestEqualInputsHaveEqualDigests(t *testing.T) {
	g := NewWithT(t)
	s := set{
		env:     map[string]value{"a": {text: "1"}, "b": {text: "2", secret: "uid"}, "c": {text: "3"}, "d": {text: "4"}},
		config:  map[string]json.RawMessage{"x": json.RawMessage(`1`), "y": json.RawMessage(`{"a":1}`)},
		secrets: map[string]value{"p": {text: "q", secret: "uid"}},
	}
	first, err := digestOf(s.env, s.config, s.secrets)
	g.Expect(err).ToNot(HaveOccurred())
	for range 50 {
		g.Expect(digestOf(s.env, s.config, s.secrets)).To(Equal(first))
	}
	// Changing this digest triggers a run of every Stack on upgrade.
	g.Expect(first).To(Equal("sha256:1057da320d2aefc458f3efb1041b1c2844b41ee85edaa0bdc693b0b04fec9741"))
}

func TestMarksHideTheValuesOfSecrets(t *testing.T) {
	g := NewWithT(t)
	uid := types.UID("5a1f4e0c-7a43-4c9b-8d0c-3f1c5b3a9d11")
	g.Expect(value{text: "1234", secret: uid}.mark()).ToNot(ContainSubstring("1234"))
	g.Expect(value{text: "1234", secret: uid}.mark()).ToNot(Equal(value{text: "1234", secret: "another"}.mark()),
		"without the UID the value cannot be tried out")
	g.Expect(value{text: "1234", controller: "Env:PIN"}.mark()).To(Equal(value{text: "4321", controller: "Env:PIN"}.mark()),
		"there is no key for a value of the controller")
}

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "null",
		" null ":                         "null",
		"{ \"b\" : 1 ,\n\t\"a\" : {} }":  `{"a":{},"b":1}`,
		`[1.0, 1e3, 1E+3, -0, 0.10]`:     `[1.0,1e3,1E+3,-0,0.10]`,
		`123456789012345678901234567890`: `123456789012345678901234567890`,
		`{"a":{"d":[{"z":1,"y":2}]}}`:    `{"a":{"d":[{"y":2,"z":1}]}}`,
		`"\u0041\u00e9 <&>"`:             `"Aé \u003c\u0026\u003e"`,
		`{"a":1,"a":2}`:                  `{"a":2}`,
	} {
		g := NewWithT(t)
		got, err := canonical([]byte(in))
		g.Expect(err).ToNot(HaveOccurred())
		g.Expect(string(got)).To(Equal(want))
		again, err := canonical(got)
		g.Expect(err).ToNot(HaveOccurred())
		g.Expect(again).To(Equal(got), "canonical JSON stays as it is")
	}
	for _, in := range []string{"{", "1 2", "nope", "{\"a\":1}}"} {
		g := NewWithT(t)
		_, err := canonical([]byte(in))
		g.Expect(err).To(HaveOccurred(), in)
	}
}

func TestRunDigestChangesWithEveryField(t *testing.T) {
	g := NewWithT(t)
	base := RunInputs{ProgramDigest: "sha256:00", Dir: "infra", Stack: "dev", Backend: "s3://b", Inputs: "sha256:11"}
	seen := map[string]string{RunDigest(base): "base", RunDigest(RunInputs{}): "nothing"}
	fields := reflect.TypeFor[RunInputs]()
	for i := range fields.NumField() {
		for _, text := range []string{"", "x", "infra2", "3:a,b", "sha256:00sha256:11"} {
			changed := base
			field := reflect.ValueOf(&changed).Elem().Field(i)
			if field.String() == text {
				continue // same as the base
			}
			field.SetString(text)
			digest := RunDigest(changed)
			g.Expect(seen).ToNot(HaveKey(digest), "%s = %q", fields.Field(i).Name, text)
			seen[digest] = fields.Field(i).Name + " = " + text
		}
	}
	// Changing this digest triggers a run of every Stack on upgrade.
	g.Expect(RunDigest(base)).To(Equal("sha256:30b6a1e6348b73ea5361de3ca374c97c9b855d52c5f80edb570f88713dc34d1b"))
	g.Expect(RunDigest(base)).To(Equal(RunDigest(base)))
}

// A commit that approves a plan makes another artifact of the program.
func TestThePlanDigestChangesWithAllButTheProgram(t *testing.T) {
	g := NewWithT(t)
	base := RunInputs{ProgramDigest: "sha256:00", Dir: "infra", Stack: "dev", Backend: "s3://b", Inputs: "sha256:11"}
	fields := reflect.TypeFor[RunInputs]()
	for i := range fields.NumField() {
		changed := base
		reflect.ValueOf(&changed).Elem().Field(i).SetString("other")
		same := fields.Field(i).Name == "ProgramDigest"
		g.Expect(PlanDigest(changed, "") == PlanDigest(base, "")).To(Equal(same), fields.Field(i).Name)
	}
	// Changing this digest makes every approval void.
	g.Expect(PlanDigest(base, "")).To(Equal("sha256:569cecd265819ee716621a0a974e63179e468a775c403fee8bab0ccf28d765d9"))
	g.Expect(PlanDigest(base, "sha256:packs")).NotTo(Equal(PlanDigest(base, "")), "other policies make an approval void")
	g.Expect(PlanDigest(base, "sha256:packs")).NotTo(Equal(PlanDigest(base, "sha256:others")))
	g.Expect(PolicyDigest("sha256:packs", "sha256:run")).NotTo(Equal(PolicyDigest("sha256:run", "sha256:packs")))
}

func TestThePlanKeyIsThatOfAStackInANamespace(t *testing.T) {
	g, key := NewWithT(t), []byte("key of the controller")
	keys := map[string]bool{PlanKey([]byte("other"), "apps", "dev"): true, PlanKey(key, "other", "dev"): true, PlanKey(key, "apps", "other"): true, PlanKey(key, "appsd", "ev"): true}
	g.Expect(keys).To(HaveLen(4))
	g.Expect(keys).NotTo(HaveKey(PlanKey(key, "apps", "dev")))
	// Changing it makes every approval void.
	g.Expect(PlanKey(key, "apps", "dev")).To(Equal("92c5186db83122ddacc3674f5fd57a3188f8e8620d8916886f6ee32bf7d82c8c"))
}

func TestAPlanIsTheSameForAStackThatOnlyPreviews(t *testing.T) {
	g := NewWithT(t)
	plan, err := PlanOptions(v1.StackSpec{Refresh: true})
	g.Expect(err).NotTo(HaveOccurred())
	previewed, err := PlanOptions(v1.StackSpec{Refresh: true, Preview: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(previewed).To(Equal(plan))
}

// FuzzRunDigest: two runs have the same digest only if their inputs are the same.
func FuzzRunDigest(f *testing.F) {
	f.Add("a", "", "b", "c", "d", "e", "", "", "", "", "", "ab", "", "", "c", "d", "e", "", "", "", "", "")
	f.Add("1:a", "", ",", "", "", "", "f", "", "", "", "", "1", "", "a,", "", "", "", "", "", "", "", "")
	f.Add("a", "p", "b", "c", "d", "e", "", "", "", "", "", "a", "", "b", "c", "d", "e", "project=p", "", "", "", "")
	f.Add("a", "", "b", "c", "d", "e", "", "s", "", "", "", "a", "serviceAccount=s", "b", "c", "d", "e", "", "", "", "", "")
	f.Add("a", "", "b", "c", "d", "e", "", "s", "{}", "", "", "a", "", "b", "c", "d", "e", "", "s", "workspace={}", "", "")
	f.Add("a", "", "b", "c", "d", "e", "", "s", "{}", "destroy", "", "a", "", "b", "c", "d", "e", "", "s", "{}", "", "")
	f.Add("a", "", "b", "c", "d", "e", "", "s", "", "", "i", "a", "", "b", "c", "d", "e", "", "s", "identity=i", "", "")
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g, h, i, j, o, l, u, v, w, x, y, z, q, r, k, p, m string) {
		one, other := RunInputs{a, b, c, d, e, g, h, i, j, o, l}, RunInputs{u, v, w, x, y, z, q, r, k, p, m}
		if (one == other) != (RunDigest(one) == RunDigest(other)) {
			t.Errorf("%#v and %#v", one, other)
		}
	})
}

func TestRunOptionsAreThoseThatChangeWhatPulumiDoes(t *testing.T) {
	for name, test := range map[string]struct {
		spec v1.StackSpec
		want string
	}{
		"no options": {v1.StackSpec{}, ""},
		"when to run is no option": {
			v1.StackSpec{ContinueResyncOnCommitMatch: true, RetryOnUpdateConflict: true}, ""},
		"a field without effect is no option": {
			v1.StackSpec{ExpectNoRefreshChanges: true, RunProgram: true, TargetDependents: true}, ""},
		"refresh and the options that need it": {
			v1.StackSpec{Refresh: true, ExpectNoRefreshChanges: true, RunProgram: true},
			`{"refresh":true,"expectNoRefreshChanges":true,"runProgram":true}`},
		"the order of targets does not matter": {
			v1.StackSpec{Targets: []string{"b", "a", "b"}, TargetDependents: true},
			`{"targets":["a","b"],"targetDependents":true}`},
		"preview": {v1.StackSpec{Preview: true}, `{"preview":true}`},
		"whether to create the stack is no option": {v1.StackSpec{UseLocalStackOnly: true}, ""},
		"how secrets are encrypted":                {v1.StackSpec{SecretsProvider: "passphrase"}, `{"secretsProvider":"passphrase"}`},
		"environments, in their order":             {v1.StackSpec{Environment: []string{"b", "a"}}, `{"environment":["b","a"]}`},
	} {
		g := NewWithT(t)
		g.Expect(RunOptions(test.spec)).To(Equal(test.want), name)
	}
}
