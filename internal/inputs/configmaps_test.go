// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name}, Data: data}
}

// withConfigRef returns a valid Stack with the entries.
func withConfigRef(refs map[string]v1.ConfigMapRef) *v1.Stack {
	stack := stackOf(nil, nil, nil)
	stack.Spec.ConfigRef = refs
	return stack
}

func TestResolveConfigMaps(t *testing.T) {
	g := NewWithT(t)
	reader := readerOf(g, nil, configMap("app", map[string]string{"n": "3", "tree": `{"b": 1.0, "a": [true]}`, "text": "3"}))
	stack := withConfigRef(map[string]v1.ConfigMapRef{
		"app:count": {Name: "app", Key: "n", JSON: true}, "tree": {Name: "app", Key: "tree", JSON: true}, "text": {Name: "app", Key: "text"},
	})
	stack.Spec.Config = config{"plain": {Raw: []byte(`"x"`)}}
	got, err := inputs.Resolve(context.Background(), reader, stack, inputs.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Config).To(Equal(map[string]json.RawMessage{
		"app:count": json.RawMessage("3"), "tree": json.RawMessage(`{"a":[true],"b":1.0}`),
		"text": json.RawMessage(`"3"`), "plain": json.RawMessage(`"x"`),
	}))
	g.Expect(got.Masks).To(BeEmpty(), "a ConfigMap is no secret")
	g.Expect(reader.reads).To(Equal(map[types.NamespacedName]int{{Namespace: "apps", Name: "app"}: 1}), "a ConfigMap is read once")

	inline := stackOf(nil, nil, config{
		"plain": {Raw: []byte(`"x"`)}, "app:count": {Raw: []byte("3")}, "tree": {Raw: []byte(`{"b":1.0,"a":[true]}`)}, "text": {Raw: []byte(`"3"`)},
	})
	same, err := inputs.Resolve(context.Background(), reader, inline, inputs.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(same.Digest).To(Equal(got.Digest), "where a value comes from is nothing that a program sees")

	changed := readerOf(g, nil, configMap("app", map[string]string{"n": "4", "tree": `{"b": 1.0, "a": [true]}`, "text": "3"}))
	other, err := inputs.Resolve(context.Background(), changed, stack, inputs.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other.Digest).NotTo(Equal(got.Digest))
}

func TestResolveConfigMapsRefuses(t *testing.T) {
	reader := func(g *WithT, failure error) *counter {
		bytes := configMap("bytes", nil)
		bytes.BinaryData = map[string][]byte{"bin": {0xff}}
		return readerOf(g, failure, bytes, configMap("app", map[string]string{"null": " null ", "bad": "{not json", "two": "1 2", "empty": "", "big": strings.Repeat("x", 1<<19)}))
	}
	for name, test := range map[string]struct {
		refs    map[string]v1.ConfigMapRef
		edit    func(*v1.Stack)
		failure error
		kind    string
		want    string
	}{
		"no ConfigMap": {refs: map[string]v1.ConfigMapRef{"k": {Name: "gone", Key: "n"}},
			kind: "missing", want: "spec.configRef.k: ConfigMap 'apps/gone' not found"},
		"no such key": {refs: map[string]v1.ConfigMapRef{"k": {Name: "app", Key: "n"}},
			kind: "missing", want: `spec.configRef.k: ConfigMap 'apps/app' has no key "n"`},
		"no JSON": {refs: map[string]v1.ConfigMapRef{"k": {Name: "app", Key: "bad", JSON: true}},
			kind: "unusable", want: `spec.configRef.k: the value of key "bad" in ConfigMap 'apps/app' is not valid JSON: correct it, or remove json: true`},
		"two values": {refs: map[string]v1.ConfigMapRef{"k": {Name: "app", Key: "two", JSON: true}},
			kind: "unusable", want: "is not valid JSON"},
		"nothing": {refs: map[string]v1.ConfigMapRef{"k": {Name: "app", Key: "empty", JSON: true}},
			kind: "unusable", want: "is not valid JSON"},
		"null": {refs: map[string]v1.ConfigMapRef{"k": {Name: "app", Key: "null", JSON: true}},
			kind: "unusable", want: `spec.configRef.k: the value of key "null" in ConfigMap 'apps/app' is null, which is not a config value`},
		"bytes": {refs: map[string]v1.ConfigMapRef{"k": {Name: "bytes", Key: "bin"}},
			kind: "unusable", want: `spec.configRef.k: key "bin" of ConfigMap 'apps/bytes' is in binaryData, but config must be text: put it in data`},
		"too much": {refs: map[string]v1.ConfigMapRef{"a": {Name: "app", Key: "big"}, "b": {Name: "app", Key: "big"}, "c": {Name: "app", Key: "big"}},
			kind: "unusable", want: "spec.configRef.c: the values of configRef exceed 1048576 bytes in total"},
		"the key of a plain value": {refs: map[string]v1.ConfigMapRef{"k": {Name: "app", Key: "n"}},
			edit: func(s *v1.Stack) { s.Spec.Config = config{"k": {Raw: []byte("1")}} },
			kind: "invalid", want: "spec.configRef.k: spec.config has the same key: remove one of the two"},
		"no key": {refs: map[string]v1.ConfigMapRef{"k": {Name: "app"}},
			kind: "invalid", want: "spec.configRef.k: name and key of a ConfigMap are required"},
		"an API server that does not answer": {refs: map[string]v1.ConfigMapRef{"k": {Name: "app", Key: "n"}}, failure: errors.New("no answer"),
			kind: "", want: "spec.configRef.k: can't read ConfigMap 'apps/app': no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := withConfigRef(test.refs)
			if test.edit != nil {
				test.edit(stack)
			}
			_, err := inputs.Resolve(context.Background(), reader(g, test.failure), stack, inputs.Options{})
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			g.Expect(kindOf(err)).To(Equal(test.kind))
			if test.kind == "invalid" {
				g.Expect(inputs.Validate(stack)).To(MatchError(err.Error()))
			}
		})
	}
}

func TestConfigMapRefs(t *testing.T) {
	g := NewWithT(t)
	g.Expect(inputs.ConfigMapRefs(stackOf(nil, nil, nil))).To(BeEmpty())
	g.Expect(inputs.ConfigMapRefs(withConfigRef(map[string]v1.ConfigMapRef{
		"a": {Name: "two", Key: "x"}, "b": {Name: "one", Key: "x"}, "c": {Name: "two", Key: "y"},
	}))).To(Equal([]types.NamespacedName{{Namespace: "apps", Name: "one"}, {Namespace: "apps", Name: "two"}}))
}

func TestServiceAccountOfAStack(t *testing.T) {
	own := refs{"KUBECONFIG": literal("/etc/kubeconfig")}
	for name, test := range map[string]struct {
		env             refs
		spec, byDefault string
		want            string
		isInvalid       bool
	}{
		"none":                                 {},
		"the default":                          {byDefault: "default-account", want: "default-account"},
		"its own":                              {spec: "deployer", byDefault: "default-account", want: "deployer"},
		"a kubeconfig of its own":              {env: own},
		"no default beside a kubeconfig":       {env: own, byDefault: "default-account"},
		"a kubeconfig of its own, and account": {env: own, spec: "deployer", want: "deployer", isInvalid: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := stackOf(test.env, nil, nil)
			stack.Spec.ServiceAccountName = test.spec
			g.Expect(inputs.ServiceAccount(stack, test.byDefault)).To(Equal(test.want))
			if err := inputs.Validate(stack); test.isInvalid {
				g.Expect(err).To(MatchError("spec.envRefs.KUBECONFIG: spec.serviceAccountName already provides a kubeconfig: remove one of the two"))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
		})
	}
}
