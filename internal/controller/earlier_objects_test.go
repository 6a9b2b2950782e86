// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// recorded are the objects of a Stack as an earlier controller left them, and what it did next.
type recorded struct {
	objects []client.Object
	starts  string
	writes  int
}

func readRecorded(t *testing.T, file string) (r recorded) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func() client.Object{
		"Program": func() client.Object { return &v1.Program{} }, "Stack": func() client.Object { return &v1.Stack{} },
		"Secret": func() client.Object { return &corev1.Secret{} }, "ConfigMap": func() client.Object { return &corev1.ConfigMap{} },
	}
	for _, document := range strings.Split(string(text), "\n---\n") {
		var of struct {
			metav1.TypeMeta `json:",inline"`
			Next            struct {
				Starts string `json:"starts"`
				Writes int    `json:"writes"`
			} `json:"next"`
		}
		if err := yaml.Unmarshal([]byte(document), &of); err != nil {
			t.Fatal(err)
		}
		if of.Kind == "Next" {
			r.starts, r.writes = of.Next.Starts, of.Next.Writes
			continue
		}
		object := kinds[of.Kind]()
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			t.Fatal(err)
		}
		r.objects = append(r.objects, object)
	}
	return r
}

// An upgrade takes over what an earlier controller wrote: a Stack in sync costs no run and no write, and whatever else it
// was, the next step is the same. The objects were recorded before the code that writes a status was moved to a package of its
// own. They stay as they are: that they can be read is the point.
func TestObjectsOfAnEarlierControllerAreTakenOver(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "earlier", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded objects", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			g := NewWithT(t)
			earlier := readRecorded(t, file)
			w := newWorld(t, earlier.objects...)
			w.Holder.Instance = "c"
			before := w.stack()
			w.mustReconcile()
			starts := ""
			for _, started := range w.runner.runs {
				starts = string(started.Operation)
			}
			g.Expect(starts).To(Equal(earlier.starts))
			g.Expect(w.writes).To(BeNumerically("<=", max(earlier.writes, 1)), "a changed text is written once")
			after := w.stack()
			if before.Status.Run != nil {
				g.Expect(after.Status.Run).To(Equal(before.Status.Run), "the process that has the run may be alive")
			}
			g.Expect(after.Status.Interrupted).To(Equal(before.Status.Interrupted))
			g.Expect(after.Status.UnknownCreates).To(Equal(before.Status.UnknownCreates))
			g.Expect(after.Status.LastAppliedDigest).To(Equal(before.Status.LastAppliedDigest))
			if strings.Contains(file, "in-sync") {
				g.Expect(w.writes).To(BeZero())
				g.Expect(after).To(Equal(before))
			}
		})
	}
}
