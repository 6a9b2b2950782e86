// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func stack(name string, status metav1.ConditionStatus) *v1.Stack {
	s := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name, Generation: 1}}
	s.Status.ObservedGeneration = 1
	s.Status.Conditions = []metav1.Condition{
		{Type: "Ready", Status: status, Reason: "UpdateFailed", Message: "no\nbucket " + strings.Repeat("x", 2*maxLine)},
	}
	return s
}

func TestAFailureIsDescribedInTenLines(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
	g.Expect(v1.AddToScheme(scheme)).To(Succeed())
	objects := []client.Object{stack("a", metav1.ConditionTrue), stack("b", metav1.ConditionTrue), stack("c", metav1.ConditionTrue),
		stack("d", metav1.ConditionTrue), stack("e", metav1.ConditionFalse)}
	var log strings.Builder
	for n := range 5 {
		objects = append(objects, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "apps", Name: fmt.Sprint(9 - n)},
			InvolvedObject: corev1.ObjectReference{Kind: "Stack", Name: "e"}, Type: "Warning", Reason: "UpdateFailed", Message: fmt.Sprint("event ", n),
			LastTimestamp: metav1.Time{Time: time.Date(2026, 3, 2, 10, 0, n, 0, time.UTC)},
		})
		fmt.Fprintf(&log, "apps line %d\nother line %d\n", n, n)
	}
	path := filepath.Join(t.TempDir(), "log")
	g.Expect(os.WriteFile(path, []byte(strings.Repeat("apps is far away\n", logBytes/10)+log.String()), 0o600)).To(Succeed())

	lines := Describe(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), "apps", LogFile(path))
	g.Expect(lines).To(HaveLen(10))
	g.Expect(lines[0]).To(HavePrefix("Stack apps/e: generation 1, observed 1; Ready=False UpdateFailed: no bucket x"))
	for _, l := range lines {
		g.Expect(len(l)).To(BeNumerically("<=", maxLine+len("...")))
	}
	g.Expect(lines[3]).To(Equal("and 2 more Stacks in apps"))
	g.Expect(lines[4:]).To(Equal([]string{
		"event 10:00:02 Stack/e Warning UpdateFailed: event 2",
		"event 10:00:03 Stack/e Warning UpdateFailed: event 3",
		"event 10:00:04 Stack/e Warning UpdateFailed: event 4",
		"log apps line 2", "log apps line 3", "log apps line 4",
	}))
}

func TestTheLogOfAControllerInTheProcessIsBounded(t *testing.T) {
	g := NewWithT(t)
	log := &Log{}
	for range 3 * logBytes / 100 {
		log.Logger().Info(strings.Repeat("x", 100))
	}
	log.Logger().WithValues("namespace", "apps").Info("last")
	text, err := log.Read()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(text)).To(BeNumerically("<=", 2*logBytes))
	g.Expect(logLines(text, "apps")).To(ConsistOf(ContainSubstring(`"msg":"last"`)))
}
