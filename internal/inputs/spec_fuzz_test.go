// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/fuzz"
)

// vault has a value for every key of every Secret and ConfigMap, except those of one
// name. It stands in for the API server.
type vault struct {
	client.Reader
	missing, suffix string
	reads           []types.NamespacedName
}

const vaultSecret = "Zq-secret-"

func (v *vault) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	v.reads = append(v.reads, key)
	if key.Name == v.missing {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, key.Name)
	}
	obj.SetUID(types.UID("uid of " + key.String()))
	switch obj := obj.(type) {
	case *corev1.Secret:
		obj.Data = map[string][]byte{"k": []byte(vaultSecret + v.suffix), "binary": {0xff, 0xfe, 'Z', 'q'}, "empty": {}}
	case *corev1.ConfigMap:
		obj.Data = map[string]string{"k": "5", "json": `{"b": 1, "a": [2]}`, "bad": "{" + vaultSecret}
	}
	return nil
}

// specFrom returns a spec in which anything may be wrong.
func specFrom(in *fuzz.Input) v1.StackSpec {
	name := func() string {
		return fuzz.Pick(in, "A", "B", "", "a=b", "demo:k", "KUBECONFIG", "PULUMI_BACKEND_URL", in.Text())
	}
	ref := func() v1.ResourceRef {
		r := v1.ResourceRef{Type: fuzz.Pick[v1.ResourceRefType](in, "Secret", "Literal", "FS", "")}
		if in.Bool() {
			r.Secret = &v1.SecretKeyReference{Namespace: fuzz.Pick(in, "", "apps", "other"), Name: fuzz.Pick(in, "s", "t", "", "none"),
				Key: fuzz.Pick(in, "k", "binary", "empty", "nokey", "")}
		}
		if in.Bool() {
			r.Literal = &v1.LiteralValue{Value: in.Text()}
		}
		return r
	}
	refs := func() map[string]v1.ResourceRef {
		all := map[string]v1.ResourceRef{}
		for range in.Below(4) {
			all[name()] = ref()
		}
		return all
	}
	spec := v1.StackSpec{
		Stack: fuzz.Pick(in, "dev", "", in.Text()), EnvRefs: refs(), SecretsRef: refs(), ServiceAccountName: fuzz.Pick(in, "", "app"),
		Refresh: in.Bool(), ExpectNoRefreshChanges: in.Bool(), RunProgram: in.Bool(), Preview: in.Bool(), TargetDependents: in.Bool(),
		Targets: fuzz.List(in, 4, in.Text), Config: map[string]apiextensionsv1.JSON{}, ConfigRef: map[string]v1.ConfigMapRef{},
	}
	if in.Below(4) > 0 {
		spec.ProgramRef = &v1.ProgramReference{Name: "p"}
	}
	if in.Below(4) == 3 {
		spec.FluxSource = &v1.FluxSource{}
	}
	for range in.Below(4) {
		spec.Config[name()] = apiextensionsv1.JSON{Raw: []byte(fuzz.Pick(in, `1`, `"1"`, `{"b":1,"a":2}`, ` null`, `{`, in.Text()))}
	}
	for range in.Below(3) {
		spec.ConfigRef[name()] = v1.ConfigMapRef{Name: fuzz.Pick(in, "c", "", "none"), Key: fuzz.Pick(in, "k", "json", "bad", "nokey", ""), JSON: in.Bool()}
	}
	return spec
}

// FuzzStackSpec takes any spec through everything that happens before a run.
func FuzzStackSpec(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"))
	f.Add([]byte("\x00\x02\x01\x00\x01\x01\x00\x01\x00\x00\x02\x01\x01\x03abc\x01\x04\x00\x01\x01\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "a"}, Spec: specFrom(fuzz.From(data))}
		before := stack.DeepCopy()
		invalid := Validate(stack)
		checkInvalid(t, stack, invalid)
		checkOptions(t, stack.Spec)
		checkResolved(t, stack, invalid)
		if !reflect.DeepEqual(stack, before) {
			t.Error("the Stack was changed")
		}
	})
}

func checkInvalid(t *testing.T, stack *v1.Stack, err error) {
	var invalid *InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Errorf("%T: %v", err, err)
	}
	if again := Validate(stack); err != nil && again.Error() != err.Error() {
		t.Errorf("%v, and then %v", err, again)
	}
	if err == nil && (stack.Spec.Stack == "" || (stack.Spec.FluxSource == nil) == (stack.Spec.ProgramRef == nil)) {
		t.Errorf("%+v is valid", stack.Spec)
	}
}

// checkOptions checks that the order of targets, and fields that only say when to run,
// are not inputs.
func checkOptions(t *testing.T, spec v1.StackSpec) {
	options, err := RunOptions(spec)
	if err != nil {
		t.Fatal(err)
	}
	same := spec
	same.Suspend, same.DestroyOnFinalize, same.ContinueResyncOnCommitMatch = true, true, true
	same.Targets = slices.Concat(spec.Targets, spec.Targets)
	slices.Reverse(same.Targets)
	if again, err := RunOptions(same); err != nil || again != options {
		t.Errorf("%q became %q (%v)", options, again, err)
	}
	other := spec
	other.Refresh = !spec.Refresh
	if again, err := RunOptions(other); err != nil || again == options {
		t.Errorf("with another refresh it is %q as well (%v)", again, err)
	}
}

func checkResolved(t *testing.T, stack *v1.Stack, invalid error) {
	resolve := func(stack *v1.Stack, suffix string, strict bool) (*Inputs, error) {
		reader := &vault{missing: "none", suffix: suffix}
		got, err := Resolve(context.Background(), reader, stack, Options{NoCrossNamespaceRefs: strict})
		for _, read := range reader.reads {
			if strict && read.Namespace != "apps" {
				t.Errorf("%s was read", read)
			}
		}
		return got, err
	}
	got, err := resolve(stack, "1", true)
	if err != nil {
		if strings.Contains(err.Error(), vaultSecret) {
			t.Errorf("a value is in the error: %v", err)
		}
		got, err = resolve(stack, "1", false)
	}
	if err != nil {
		return
	}
	again, err := resolve(stack, "1", false)
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("%+v, and then %+v (%v)", got, again, err)
	}
	rotated, err := resolve(stack, "2", false)
	if err != nil {
		t.Fatal(err)
	}
	sameValues := maps.Equal(got.Env, rotated.Env) && maps.Equal(got.Secrets, rotated.Secrets)
	if sameValues != (got.Digest == rotated.Digest) {
		t.Errorf("digest %s, and %s after the Secrets were rotated", got.Digest, rotated.Digest)
	}
	checkMasks(t, got)
	if invalid == nil {
		checkReferences(t, stack)
	}
}

// checkMasks checks that every value from a Secret is masked.
func checkMasks(t *testing.T, got *Inputs) {
	for _, values := range []map[string]string{got.Env, got.Secrets} {
		for name, value := range values {
			if strings.Contains(value, "Zq") && strings.HasPrefix(value, vaultSecret) && !slices.Contains(got.Masks, value) {
				t.Errorf("the value of %s is not masked", name)
			}
		}
	}
	for _, value := range got.Secrets {
		if strings.TrimSpace(value) != "" && !slices.Contains(got.Masks, value) {
			t.Error("a secret config value is not masked")
		}
	}
}

// checkReferences checks that every Secret that is read is also watched.
func checkReferences(t *testing.T, stack *v1.Stack) {
	reader := &vault{missing: "none"}
	_, _ = Resolve(context.Background(), reader, stack, Options{})
	watched := append(SecretRefs(stack), ConfigMapRefs(stack)...)
	for _, read := range reader.reads {
		if !slices.Contains(watched, read) {
			t.Errorf("%s is read and not watched", read)
		}
	}
}

// FuzzCanonical: canonical JSON is the same value, and the same text however it was
// written.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`1`, ` {"b":1.0,"a":[1e3,null]}`, `"<\u2028>"`, `123456789012345678901234567890`, `{"a":1,"a":2}`, `1 2`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := canonical(raw)
		if (err == nil) != (json.Valid(raw) || len(raw) == 0) {
			t.Fatalf("%q gave %v", raw, err)
		}
		if err != nil || len(raw) == 0 {
			return
		}
		var wide bytes.Buffer
		if err := json.Indent(&wide, raw, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{got, wide.Bytes()} {
			if again, err := canonical(text); err != nil || !bytes.Equal(again, got) {
				t.Errorf("%q is %q, and %q is %q (%v)", raw, got, text, again, err)
			}
		}
	})
}
