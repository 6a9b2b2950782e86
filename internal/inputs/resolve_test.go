// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/acl"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// counter counts reads of Secrets. controller-runtime's fake client suffices, as the code
// only gets Secrets by name.
type counter struct {
	client.Reader
	reads map[types.NamespacedName]int
}

func (c *counter) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	c.reads[key]++
	return c.Reader.Get(ctx, key, obj, opts...)
}

// readerOf returns a reader with the Secrets.
func readerOf(g *WithT, failure error, secrets ...client.Object) *counter {
	scheme := runtime.NewScheme()
	g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(secrets...)
	if failure != nil {
		builder = builder.WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return failure
			},
		})
	}
	return &counter{Reader: builder.Build(), reads: map[types.NamespacedName]int{}}
}

// secret returns a Secret with the data, and a UID as from the API server.
func secret(namespace, name, uid string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid)}, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return s
}

func literal(value string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: value}}
}

func fromSecret(namespace, name, key string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Namespace: namespace, Name: name, Key: key}}
}

func fromEnv(name string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefEnv, Env: &v1.EnvReference{Name: name}}
}

func fromFile(path string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefFS, FileSystem: &v1.FileReference{Path: path}}
}

type (
	refs   = map[string]v1.ResourceRef
	config = map[string]apiextensionsv1.JSON
)

// stackOf returns a valid Stack in the namespace apps.
func stackOf(env, secrets refs, config config) *v1.Stack {
	return &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "app"},
		Spec: v1.StackSpec{
			Stack: "dev", ProgramRef: &v1.ProgramReference{Name: "p"}, EnvRefs: env, SecretsRef: secrets, Config: config,
		},
	}
}

func TestResolve(t *testing.T) {
	g := NewWithT(t)
	reader := readerOf(g, nil,
		secret("apps", "aws", "uid-1", map[string]string{"id": "AKIA-ID", "key": "s3cr3t-key\n"}),
		secret("infra", "shared", "uid-2", map[string]string{"token": "tok \"en\""}))
	stack := stackOf(
		refs{
			"AWS_ACCESS_KEY_ID": fromSecret("", "aws", "id"), "AWS_SECRET_ACCESS_KEY": fromSecret("apps", "aws", "key"),
			"AWS_REGION": literal("eu-west-1"), "PULUMI_CONFIG_PASSPHRASE": literal("passphrase"), "PULUMI_ACCESS_TOKEN": literal("pul-1"),
			"EMPTY": literal(""),
		},
		refs{"db:password": literal("written-down"), "token": fromSecret("infra", "shared", "token"), "id": fromSecret("", "aws", "id")},
		config{"aws:region": {Raw: []byte(`"eu-west-1"`)}, "tree": {Raw: []byte("{\"b\": 1.0,\n \"a\": [1e3]}")}, "none": {}},
	)
	got, err := inputs.Resolve(context.Background(), reader, stack, inputs.Options{})
	g.Expect(err).ToNot(HaveOccurred())
	g.Expect(got.Env).To(Equal(map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIA-ID", "AWS_SECRET_ACCESS_KEY": "s3cr3t-key\n", "AWS_REGION": "eu-west-1",
		"PULUMI_CONFIG_PASSPHRASE": "passphrase", "PULUMI_ACCESS_TOKEN": "pul-1", "EMPTY": "",
	}))
	g.Expect(got.Secrets).To(Equal(map[string]string{"db:password": "written-down", "token": "tok \"en\"", "id": "AKIA-ID"}))
	g.Expect(got.Config).To(Equal(map[string]json.RawMessage{
		"aws:region": json.RawMessage(`"eu-west-1"`), "tree": json.RawMessage(`{"a":[1e3],"b":1.0}`), "none": json.RawMessage("null"),
	}))
	g.Expect(got.Masks).To(Equal([]string{
		"written-down", "s3cr3t-key\n", "passphrase", `tok "en"`, "AKIA-ID", "pul-1",
	}), "what is secret, the longest first, and neither the region nor the empty text")
	g.Expect(got.Digest).To(MatchRegexp(`^sha256:[0-9a-f]{64}$`))
	g.Expect(reader.reads).To(Equal(map[types.NamespacedName]int{
		{Namespace: "apps", Name: "aws"}: 1, {Namespace: "infra", Name: "shared"}: 1,
	}), "each Secret is read once")

	again, err := inputs.Resolve(context.Background(), reader, stack.DeepCopy(), inputs.Options{})
	g.Expect(err).ToNot(HaveOccurred())
	g.Expect(again).To(Equal(got))
}

func TestResolveAnEmptySpec(t *testing.T) {
	g := NewWithT(t)
	got, err := inputs.Resolve(context.Background(), readerOf(g, errors.New("nothing may be read")), stackOf(nil, nil, nil), inputs.Options{})
	g.Expect(err).ToNot(HaveOccurred())
	g.Expect(got.Masks).To(BeEmpty())
	empty, err := inputs.Resolve(context.Background(), readerOf(g, nil), stackOf(refs{}, refs{}, config{}), inputs.Options{})
	g.Expect(err).ToNot(HaveOccurred())
	g.Expect(empty.Digest).To(Equal(got.Digest))
}

func TestResolveErrors(t *testing.T) {
	const canary = "CANARY"
	for name, tt := range map[string]struct {
		env, secrets refs
		config       config
		failure      error
		want         string
		as           error
	}{
		"a Secret that does not exist": {env: refs{"A": fromSecret("", "gone", "k")},
			want: "spec.envRefs.A: Secret 'apps/gone' not found", as: &inputs.MissingError{}},
		"a key that does not exist": {secrets: refs{"db:password": fromSecret("", "aws", "pw")},
			want: `spec.secretsRef.db:password: Secret 'apps/aws' has no key "pw"`, as: &inputs.MissingError{}},
		"the first of two errors, in order": {env: refs{"B": fromSecret("", "gone", "k"), "A": fromSecret("", "aws", "pw")},
			want: `spec.envRefs.A: Secret 'apps/aws' has no key "pw"`, as: &inputs.MissingError{}},
		"a Secret of another namespace": {env: refs{"A": fromSecret("infra", "shared", "token")},
			want: "spec.envRefs.A: can't access 'Secret/infra/shared', cross-namespace references have been blocked", as: acl.AccessDeniedError("")},
		"an API server that fails": {env: refs{"A": fromSecret("", "aws", "key")}, failure: errors.New("boom"),
			want: "spec.envRefs.A: can't read Secret 'apps/aws': boom"},
		"a reference without what its type asks for": {env: refs{"A": {Type: v1.ResourceRefSecret}},
			want: "spec.envRefs.A: secret is required when type is Secret", as: &inputs.InvalidError{}},
		"a variable with a NUL byte": {env: refs{"A": fromSecret("", "aws", "nul")},
			want: "spec.envRefs.A: the value contains a NUL byte", as: &inputs.UnusableError{}},
		"a variable that is too long": {env: refs{"A": literal(strings.Repeat("x", 128<<10))},
			want: "spec.envRefs.A: name and value exceed 131071 bytes", as: &inputs.UnusableError{}},
		"secret config that is not text": {secrets: refs{"a": fromSecret("", "aws", "bin")},
			want: "spec.secretsRef.a: the value is not UTF-8 text", as: &inputs.UnusableError{}},
		"more than fits": {secrets: refs{"a": literal(strings.Repeat("x", 1<<20)), "b": literal("y")},
			want: "spec.secretsRef.b: the values of environment variables and secret config exceed 1048576 bytes in total", as: &inputs.UnusableError{}},
		"config that is not JSON": {config: config{"a": {Raw: []byte("{")}},
			want: "spec.config.a: is not valid JSON", as: &inputs.InvalidError{}},
		"config with something behind it": {config: config{"a": {Raw: []byte("1 2")}},
			want: "spec.config.a: is not valid JSON", as: &inputs.InvalidError{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reader := readerOf(g, tt.failure,
				secret("apps", "aws", "uid-1", map[string]string{"key": canary, canary: canary, "nul": canary + "\x00", "bin": canary + "\xff"}),
				secret("infra", "shared", "uid-2", map[string]string{"token": canary}))
			_, err := inputs.Resolve(context.Background(), reader, stackOf(tt.env, tt.secrets, tt.config), inputs.Options{NoCrossNamespaceRefs: true})
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
			g.Expect(err.Error()).ToNot(ContainSubstring(canary), "neither values nor the names of other keys")
			g.Expect(kindOf(fmt.Errorf("wrapped: %w", err))).To(Equal(kindOf(tt.as)))
			g.Expect(reader.reads).ToNot(HaveKey(types.NamespacedName{Namespace: "infra", Name: "shared"}))
		})
	}
}

// kindOf names the type of an error of this package.
func kindOf(err error) string {
	var missing *inputs.MissingError
	var invalid *inputs.InvalidError
	var unusable *inputs.UnusableError
	var denied acl.AccessDeniedError
	switch {
	case errors.As(err, &missing):
		return "missing"
	case errors.As(err, &invalid):
		return "invalid"
	case errors.As(err, &unusable):
		return "unusable"
	case errors.As(err, &denied):
		return "denied"
	}
	return ""
}
