// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package outputs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/outputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestPlainOutputsHaveTheTypesInTheStatus(t *testing.T) {
	shown := map[string]apiextensionsv1.JSON{
		"replicas": {Raw: []byte("3")}, "enabled": {Raw: []byte("true")}, "nothing": {Raw: []byte("null")}, "policy": {Raw: []byte(`"{\"a\":1}"`)},
		"list": {Raw: []byte(`["a", "b"]`)}, "password": {Raw: []byte(`"[secret]"`)}, "pin": {Raw: []byte(`"[secret]"`)},
		"kubeconfig": {Raw: []byte(`"[secret]"`)}, "edited": {Raw: []byte("1")},
	}
	data := map[string][]byte{
		"replicas": []byte("3"), "enabled": []byte("true"), "nothing": []byte("null"), "policy": []byte(`{"a":1}`),
		"list": []byte(`["a","b"]`), "password": []byte("hunter2"), "pin": []byte("1234"),
		"kubeconfig": []byte(`{"kind":"Config"}`), "edited": []byte("2"), "empty": nil,
	}
	text := func(value string) json.RawMessage { return json.RawMessage(`"` + value + `"`) }
	NewWithT(t).Expect(outputs.Plain(data, shown)).To(Equal(map[string]json.RawMessage{
		"replicas": shown["replicas"].Raw, "enabled": shown["enabled"].Raw, "nothing": shown["nothing"].Raw, "policy": shown["policy"].Raw,
		"list": shown["list"].Raw, "password": text("hunter2"), "pin": text("1234"),
		"kubeconfig": data["kubeconfig"], "edited": text("2"), "empty": text(""),
	}))
}

func TestValuesOfOutputs(t *testing.T) {
	for _, tt := range []struct{ name, output, want string }{
		{"a string is as it is", `"hunter2"`, "hunter2"},
		{"with its white space", `" a\n\tb\n"`, " a\n\tb\n"},
		{"and its characters", `"\u00fcber \ud83d\ude00 <&>\u0000"`, "über 😀 <&>\x00"},
		{"an empty one is empty", `""`, ""},
		{"also one that looks like JSON", `"{\"a\": 1}"`, `{"a": 1}`},
		{"a number is as it is written", `12345678901234567890123.50`, "12345678901234567890123.50"},
		{"however small", `1e-400`, "1e-400"},
		{"a boolean", `true`, "true"},
		{"null", `null`, "null"},
		{"a list", "[ 1,\n \"a\" ]", `[1,"a"]`},
		{"an object has its keys in order", `{"b": {"y": 1e3, "x": []}, "a": "<\u0026>"}`, `{"a":"<&>","b":{"x":[],"y":1e3}}`},
		{"an empty object", ` {} `, "{}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			data, err := outputs.Data(run.PlainOutputs{Values: map[string]json.RawMessage{"o": json.RawMessage(tt.output)}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(data).To(Equal(map[string][]byte{"o": []byte(tt.want)}))
		})
	}
}

func TestDataRefuses(t *testing.T) {
	big := json.RawMessage(`"` + strings.Repeat("s3cret", corev1.MaxSecretSize/6) + `"`)
	for _, tt := range []struct {
		name   string
		keys   []string
		values map[string]json.RawMessage
		want   string
	}{
		{"missing", []string{"a", "gone", "lost"}, map[string]json.RawMessage{"a": json.RawMessage(`1`)},
			`the stack has no output "gone", "lost": add it to the program`},
		{"a name", nil, map[string]json.RawMessage{"kube config": json.RawMessage(`"s3cret"`)}, `output "kube config" is not a valid key of a Secret`},
		{"two dots", nil, map[string]json.RawMessage{"..": json.RawMessage(`"s3cret"`)}, `output ".." is not a valid key`},
		{"too big", nil, map[string]json.RawMessage{"a": big, "bcdef": json.RawMessage(`"s3cret"`)}, "the outputs have 1048584 bytes, the limit of a Secret is 1048576"},
		{"not JSON", nil, map[string]json.RawMessage{"a": json.RawMessage(`s3cret`)}, `output "a" cannot be read: it is not JSON`},
		{"two values", nil, map[string]json.RawMessage{"a": json.RawMessage(`1 "s3cret"`)}, `output "a" cannot be read: it has more than one`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := outputs.Data(run.PlainOutputs{Wanted: run.WantedOutputs{Keys: tt.keys}, Values: tt.values})
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("s3cret"))
			g.Expect(len(err.Error())).To(BeNumerically("<", 1000))
		})
	}
}

func TestAnErrorNamesNoMoreThanTenOutputs(t *testing.T) {
	g := NewWithT(t)
	var keys []string
	for i := range 256 {
		keys = append(keys, fmt.Sprintf("k%03d", i))
	}
	_, err := outputs.Data(run.PlainOutputs{Wanted: run.WantedOutputs{Keys: keys}})
	g.Expect(err).To(MatchError(ContainSubstring(`"k009" and 246 more: add it`)))
}

func TestAStackWithoutOutputsHasAnEmptySecret(t *testing.T) {
	g := NewWithT(t)
	g.Expect(outputs.Data(run.PlainOutputs{})).To(BeEmpty())
}

func TestDigestOfASecret(t *testing.T) {
	g := NewWithT(t)
	digest := func(change func(*corev1.Secret, *v1.OutputsSecret)) string {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: types.UID("u1"), ResourceVersion: "1"}, Data: map[string][]byte{"a": []byte("1")}}
		to := &v1.OutputsSecret{Name: "s", Keys: []string{"a", "b"}, Labels: map[string]string{"l": "1"}}
		change(secret, to)
		text, err := outputs.Digest(secret, *to)
		g.Expect(err).NotTo(HaveOccurred())
		return text
	}
	first := digest(func(*corev1.Secret, *v1.OutputsSecret) {})
	g.Expect(first).To(Equal("hmac-sha256:b7a5162924610f23fa44313db9f7effd1425240e0be9df7cc2bdb94dfeb9da50"),
		"another digest has the outputs of every Stack read once more")
	for name, change := range map[string]func(*corev1.Secret, *v1.OutputsSecret){
		"metadata": func(s *corev1.Secret, _ *v1.OutputsSecret) {
			s.ResourceVersion, s.Labels = "2", map[string]string{"x": "y"}
		},
		"the order of keys": func(_ *corev1.Secret, to *v1.OutputsSecret) { to.Keys = []string{"b", "a", "b"} },
		"no annotations":    func(_ *corev1.Secret, to *v1.OutputsSecret) { to.Annotations = map[string]string{} },
	} {
		g.Expect(digest(change)).To(Equal(first), name)
	}
	for name, change := range map[string]func(*corev1.Secret, *v1.OutputsSecret){
		"a value":         func(s *corev1.Secret, _ *v1.OutputsSecret) { s.Data["a"] = []byte("2") },
		"an added value":  func(s *corev1.Secret, _ *v1.OutputsSecret) { s.Data["b"] = nil },
		"a removed value": func(s *corev1.Secret, _ *v1.OutputsSecret) { s.Data = nil },
		"another Secret":  func(s *corev1.Secret, _ *v1.OutputsSecret) { s.UID = "u2" },
		"keys":            func(_ *corev1.Secret, to *v1.OutputsSecret) { to.Keys = nil },
		"labels":          func(_ *corev1.Secret, to *v1.OutputsSecret) { to.Labels = nil },
		"annotations":     func(_ *corev1.Secret, to *v1.OutputsSecret) { to.Annotations = map[string]string{"a": "b"} },
	} {
		g.Expect(digest(change)).NotTo(Equal(first), name)
	}
}

func TestWhetherTheDataIsOfAnotherUpdate(t *testing.T) {
	for name, tt := range map[string]struct {
		value, shown string
		want         bool
	}{
		"the same text":           {"a", `"a"`, false},
		"another text":            {"b", `"a"`, true},
		"a secret":                {"b", `"[secret]"`, false},
		"a text with a secret":    {"http://b@a", `"http://[secret]@a"`, false},
		"a masked text":           {"a b", `"a ***"`, false},
		"a text that is too big":  {"b", `"[too big to show: 1 bytes]"`, false},
		"one that is not shown":   {"b", `"[not shown: it is no JSON]"`, false},
		"a number, written again": {"1.50", `1.5`, false},
		"an output that is gone":  {"b", ``, false},
	} {
		t.Run(name, func(t *testing.T) {
			data, shown := map[string][]byte{"a": []byte(tt.value)}, map[string]apiextensionsv1.JSON{"a": {Raw: []byte(tt.shown)}}
			NewWithT(t).Expect(outputs.Differ(data, shown)).To(Equal(tt.want))
		})
	}
}

func TestWhatTheStatusShowsIsNotHidden(t *testing.T) {
	g := NewWithT(t)
	data := map[string][]byte{
		"kind": []byte("Secret"), "ports": []byte("[80,443]"), "token": []byte("canary"), "of": []byte(`{"p":"canary"}`),
		"masked": []byte("a canary"), "big": []byte("xx"), "odd": []byte("yy"),
	}
	shown := map[string]apiextensionsv1.JSON{
		"kind": {Raw: []byte(`"Secret"`)}, "ports": {Raw: []byte("[80, 443]")}, "token": {Raw: []byte(`"[secret]"`)}, "of": {Raw: []byte(`{"p":"[secret]"}`)},
		"masked": {Raw: []byte(`"a ***"`)}, "big": {Raw: []byte(`"[too big to show: 2 bytes]"`)},
	}
	g.Expect(outputs.Hidden(data, shown)).To(Equal([]string{"xx", "a canary", "yy", `{"p":"canary"}`, "canary"}))
	g.Expect(outputs.Hidden(data, nil)).To(HaveLen(len(data)), "nothing is known of them")
}
