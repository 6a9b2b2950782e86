// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// waiting creates a pod whose container waits for its image.
func (w *world) waiting(name string, labels map[string]string, reason, message string) {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "registry.example.com/a:1"}}},
	}
	g := NewWithT(w.t)
	g.Expect(w.api.Create(w.t.Context(), pod)).To(Succeed())
	w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), pod, client.GracePeriodSeconds(0)) })
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "a", Image: pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}}
	g.Expect(w.api.Status().Update(w.t.Context(), pod)).To(Succeed())
}

func TestCheckNamesImagesThatCannotBePulled(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "check-images")
	w.env.PollInterval = slowPolls
	labels := map[string]string{"app": "a"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pulumi-controller", Labels: map[string]string{componentLabel: controllerName}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "a"}}},
			},
		},
	}
	g.Expect(w.api.Create(t.Context(), deployment)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), deployment) })
	w.waiting("controller", labels, "ImagePullBackOff", "Back-off pulling image:\n not found")
	w.waiting("starting", labels, "ContainerCreating", "")
	done := w.run("check --timeout 10s")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(ContainSubstring("✗ pod check-images/controller: cannot pull image registry.example.com/a:1 " +
		"(ImagePullBackOff: Back-off pulling image: not found): install an existing image with flux pulumi install --image"))
	g.Expect(strings.Count(done.err, "cannot pull image")).To(Equal(1), done.err)

	w.waiting("run", map[string]string{runLabel: "1"}, "ErrImagePull", "")
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "app"}, Spec: v1.StackSpec{Stack: "dev", ProgramRef: &v1.ProgramReference{Name: "app"}}}
	g.Expect(w.api.Create(t.Context(), stack)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), stack) })
	conditions.MarkFalse(stack, meta.ReadyCondition, v1.PodFailedReason, "%s", "the pod of the run could not be started: container pulumi, image b:1: Back-off (ImagePullBackOff)")
	g.Expect(w.api.Status().Update(t.Context(), stack)).To(Succeed())
	typescript := stack.DeepCopy()
	typescript.ObjectMeta = metav1.ObjectMeta{Namespace: w.namespace, Name: "typescript"}
	g.Expect(w.api.Create(t.Context(), typescript)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), typescript) })
	typescript.Status.ProjectInfo = &v1.ProjectInfo{Name: "app", Runtime: "nodejs"}
	conditions.MarkFalse(typescript, meta.ReadyCondition, v1.UpdateFailedReason, "%s", "no language plugin 'pulumi-language-nodejs' found ("+run.MissingLanguage+": use another)")
	g.Expect(w.api.Status().Update(t.Context(), typescript)).To(Succeed())
	w.deployAsIfByKubernetes()
	done = w.run("check")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(And(
		ContainSubstring("✗ Stack check-images/typescript: the image of its last run cannot execute nodejs: install the controller with flux pulumi install --image-variant=nodejs"),
		ContainSubstring("✔ pulumi-controller: deployment ready\n"),
		ContainSubstring("✗ pod check-images/run: cannot pull image registry.example.com/a:1 (ErrImagePull): set an existing image in spec.workspaceTemplate.spec.image"),
		ContainSubstring("✗ Stack check-images/app: the pod of the run could not be started: container pulumi, image b:1: Back-off (ImagePullBackOff): set an existing image"),
	))
}

func TestCheckNamesTheVariantWithALanguage(t *testing.T) {
	for runtime, want := range map[string]string{
		"nodejs": "cannot execute nodejs: install the controller with flux pulumi install --image-variant=nodejs or",
		"java":   "cannot execute java: install the controller with flux pulumi install --image-variant=all or",
		"":       "cannot execute its program: install the controller with flux pulumi install --image-variant=all or",
	} {
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "app"}}
		stack.Status.ProjectInfo = &v1.ProjectInfo{Name: "app", Runtime: runtime}
		NewWithT(t).Expect(missingLanguage(stack)).To(HavePrefix("Stack team/app: the image of its last run " + want))
	}
	NewWithT(t).Expect(missingLanguage(&v1.Stack{})).To(ContainSubstring("cannot execute its program: "))
}
