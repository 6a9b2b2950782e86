// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

func key(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// names of things, the first so many of them.
func names(count int) []string {
	var all []string
	for n := range count {
		all = append(all, fmt.Sprintf("thing-%d", n))
	}
	return all
}

// thing is a resource of the program.
type thing struct{ name, value string }

func things(count int, value string) []thing {
	var all []thing
	for _, name := range names(count) {
		all = append(all, thing{name, value})
	}
	return all
}

// program writes the things as a program. Four at a time take 600 ms each, so
// that twelve of them take about as long as the span.
func program(all []thing) v1.ProgramSpec {
	spec := v1.ProgramSpec{Resources: map[string]v1.Resource{}}
	for i, t := range all {
		resource := v1.Resource{Type: "lab:Thing", Properties: map[string]apiextensionsv1.JSON{
			"name":   raw(t.name),
			"value":  raw(t.value),
			"delays": raw(map[string]string{"create": "300ms", "afterCreate": "300ms", "update": "600ms", "delete": "600ms"}),
		}}
		if i >= 4 {
			resource.Options = &v1.ResourceOptions{DependsOn: []apiextensionsv1.JSON{raw("${" + all[i-4].name + "}")}}
		}
		spec.Resources[t.name] = resource
	}
	return spec
}

func raw(value any) apiextensionsv1.JSON {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings and maps of strings can be marshalled
	}
	return apiextensionsv1.JSON{Raw: text}
}

// apply makes the Program and the Stack, or changes the Program.
func (r *round) apply(ctx context.Context, all []thing) {
	object := &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: r.name}}
	err := r.s.Get(ctx, key(object), object)
	object.Program = program(all)
	if err == nil {
		r.wanted = all
		r.Expect(r.s.Update(ctx, object)).To(Succeed())
		r.program = object.Generation
		return
	}
	r.Expect(apierrors.IsNotFound(err)).To(BeTrue())
	r.Expect(os.MkdirAll(r.backend(), 0o755)).To(Succeed())
	r.Expect(os.MkdirAll(r.cloudDir(), 0o755)).To(Succeed())
	r.wanted = all
	r.Expect(r.s.Create(ctx, object)).To(Succeed())
	r.program = object.Generation
	r.Expect(r.s.Create(ctx, &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: r.name},
		Spec: v1.StackSpec{
			Stack:             "dev",
			Backend:           "file://" + r.backend(),
			ProgramRef:        &v1.ProgramReference{Name: r.name},
			DestroyOnFinalize: true,
			RetryInterval:     &metav1.Duration{Duration: time.Second},
			Config:            map[string]apiextensionsv1.JSON{"lab:directory": raw(r.cloudDir())},
			EnvRefs: map[string]v1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": {
				Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: "passphrase"},
			}},
		},
	})).To(Succeed())
}

func (r *round) backend() string     { return r.s.Path("backends", r.name) }
func (r *round) cloudDir() string    { return r.s.Path("clouds", r.name) }
func (r *round) cloud() *cloud.Cloud { return cloud.Open(r.cloudDir()) }

// report is what to read when the round fails.
func (r *round) report(ctx context.Context) func() string {
	return func() string {
		text, err := yaml.Marshal(r.stack(ctx))
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s\n%s", text, r.s.Controller.LogTail())
	}
}
