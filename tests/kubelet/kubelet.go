// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubelet simulates a node for tests on machines that can run none. It runs the
// containers of pods as processes in a PID namespace, with their own host name and with
// directories as volumes, read-only where the pod says so, and writes the status of the pods as a kubelet does. Images,
// networks, users and limits of pods are missing: what depends on them needs a real node.
// Everything else is real: the program, its arguments, the account's token, signals, exit
// codes.
package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

const (
	// nodeName is the name of the node, which has no object.
	nodeName = "node"
	// lookInterval is how often the pods are listed.
	lookInterval = 200 * time.Millisecond
)

// Options of a Kubelet. All are required.
type Options struct {
	// Config of a client that may do everything.
	Config *rest.Config
	// Dir for the volumes of pods and the logs of containers.
	Dir string
	// Images maps each image that can be pulled to its entrypoint and PATH.
	Images map[string]Image
}

// Image is the configuration of an image.
type Image struct {
	Entrypoint []string
	Path       string
	// Env are its other variables, as NAME=value.
	Env []string
}

// Kubelet is a node.
type Kubelet struct {
	options Options
	client  *kubernetes.Clientset
	work    sync.WaitGroup

	mu   sync.Mutex
	pods map[string]*pod
	// tokens are those of projected volumes, by namespace.
	tokens map[string][]string
}

// pod is a pod that was started here.
type pod struct {
	*corev1.Pod
	cancel context.CancelFunc
	// killed reports whether Kill has killed it, and ended whether nothing of it runs any more, and that was reported.
	killed, ended bool
	// pids are the first processes of the running containers, in the PID namespace of this
	// machine.
	pids map[int]bool
}

// CanRun says why pods cannot run here.
func CanRun() error {
	if err := exec.Command("unshare", unshared("true")...).Run(); err != nil {
		return fmt.Errorf("making namespaces, which takes root: %w", err)
	}
	return nil
}

// Start runs pods until ctx is done, and then kills them.
func Start(ctx context.Context, options Options) (*Kubelet, error) {
	client, err := kubernetes.NewForConfig(options.Config)
	if err != nil {
		return nil, err
	}
	k := &Kubelet{options: options, client: client, pods: map[string]*pod{}, tokens: map[string][]string{}}
	k.work.Go(func() { k.run(ctx) })
	return k, nil
}

// Tokens are all that pods of the namespace had in projected volumes.
func (k *Kubelet) Tokens(namespace string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.tokens[namespace])
}

// Volumes is the directory with the volumes of a pod. It is gone when the pod has ended.
func (k *Kubelet) Volumes(uid string) string { return filepath.Join(k.options.Dir, uid, "v") }

// Wait returns when all that was started has ended.
func (k *Kubelet) Wait() { k.work.Wait() }

func (k *Kubelet) run(ctx context.Context) {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		k.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look starts new pods, and stops those that are being deleted.
func (k *Kubelet) look(ctx context.Context) {
	list, err := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return // the API server may be away; the next look retries
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range list.Items {
		found := &list.Items[i]
		known, ok := k.pods[string(found.UID)]
		switch {
		case found.Spec.NodeName == "" && found.DeletionTimestamp == nil:
			k.bind(ctx, found) // the next look starts it
		case !ok && found.DeletionTimestamp == nil && found.Status.Phase == corev1.PodPending:
			life, cancel := context.WithCancel(ctx)
			started := &pod{Pod: found, cancel: cancel, pids: map[int]bool{}}
			k.pods[string(found.UID)] = started
			k.work.Go(func() { k.runPod(life, started) })
		case ok && found.DeletionTimestamp != nil && known.DeletionTimestamp == nil:
			known.DeletionTimestamp = found.DeletionTimestamp
			known.stop()
		case (!ok || known.ended) && found.DeletionTimestamp != nil:
			k.remove(ctx, found)
		}
	}
}

// bind binds the pod to this node, like a scheduler. The API server removes an unbound
// pod as soon as it is deleted.
func (k *Kubelet) bind(ctx context.Context, found *corev1.Pod) {
	_ = k.client.CoreV1().Pods(found.Namespace).Bind(ctx, &corev1.Binding{ // the next look retries
		ObjectMeta: metav1.ObjectMeta{Namespace: found.Namespace, Name: found.Name, UID: found.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
	}, metav1.CreateOptions{})
}

// stop sends SIGTERM to the containers, and kills them after their grace period.
func (p *pod) stop() {
	if len(p.pids) == 0 {
		p.cancel() // nothing was started yet, or only what can be cut short
		return
	}
	for pid := range p.pids {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	time.AfterFunc(time.Duration(*p.Spec.TerminationGracePeriodSeconds)*time.Second, p.cancel)
}

// Kill kills all processes of a pod, like a crash of its machine or the OOM killer.
func (k *Kubelet) Kill(uid string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.pods[uid]
	if !ok || len(known.pids) == 0 {
		return errors.New("no container of the pod runs")
	}
	known.killed = true
	var errs []error
	for pid := range known.pids {
		errs = append(errs, syscall.Kill(pid, syscall.SIGKILL))
	}
	return errors.Join(errs...)
}

// Claim is the directory of a claim, which every pod of its namespace can mount.
func (k *Kubelet) Claim(namespace, name string) string {
	return filepath.Join(k.options.Dir, "claims", namespace, name)
}

// Log is the path of a pod's log, which is kept.
func (k *Kubelet) Log(uid string) string { return filepath.Join(k.options.Dir, uid, "log") }

func (k *Kubelet) runPod(ctx context.Context, p *pod) {
	defer p.cancel()
	status := k.runContainers(ctx, p)
	if err := k.unmount(p); err != nil {
		status.Message = err.Error()
	}
	// The result of the container is reported even at the end of the test.
	telling, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if status.Phase != "" {
		k.tell(telling, p, status)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p.ended = true
}

func (k *Kubelet) remove(ctx context.Context, p *corev1.Pod) {
	_ = k.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{ // the next look retries
		GracePeriodSeconds: ptr.To(int64(0)), Preconditions: &metav1.Preconditions{UID: &p.UID},
	})
}

// runContainers runs the init containers one after the other, then the others together, and returns
// the final status of the pod.
func (k *Kubelet) runContainers(ctx context.Context, p *pod) corev1.PodStatus {
	mounted, err := k.mount(ctx, p)
	if err != nil {
		return corev1.PodStatus{Phase: corev1.PodFailed, Reason: "FailedMount", Message: err.Error()}
	}
	s := podStatus{PodStatus: corev1.PodStatus{Phase: corev1.PodPending, StartTime: &metav1.Time{Time: time.Now()}}}
	for _, container := range p.Spec.InitContainers {
		if k.isToldToEnd(p) || !k.runToEnd(ctx, p, container, &s, &s.InitContainerStatuses, mounted) {
			s.Phase = corev1.PodFailed
			return s.PodStatus
		}
	}
	if k.isToldToEnd(p) {
		s.Phase = corev1.PodFailed
		return s.PodStatus
	}
	var all sync.WaitGroup
	var failed atomic.Bool
	for _, container := range p.Spec.Containers {
		all.Go(func() {
			if !k.runToEnd(ctx, p, container, &s, &s.ContainerStatuses, mounted) {
				failed.Store(true)
			}
		})
	}
	all.Wait()
	s.Phase = corev1.PodSucceeded
	if failed.Load() {
		s.Phase = corev1.PodFailed
	}
	return s.PodStatus
}

// podStatus is the status of a pod whose containers run at the same time.
type podStatus struct {
	mu sync.Mutex
	corev1.PodStatus
}

// set replaces the status of one container in the list, and returns that of the pod.
func (s *podStatus) set(list *[]corev1.ContainerStatus, phase corev1.PodPhase, now corev1.ContainerStatus) corev1.PodStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Phase = phase
	i := slices.IndexFunc(*list, func(c corev1.ContainerStatus) bool { return c.Name == now.Name })
	if i < 0 {
		i, *list = len(*list), append(*list, now)
	}
	(*list)[i] = now
	return *s.PodStatus.DeepCopy()
}

// runToEnd runs a container, and reports whether it has succeeded. That it has ended is told at once
// if others still run.
func (k *Kubelet) runToEnd(ctx context.Context, p *pod, container corev1.Container, s *podStatus, list *[]corev1.ContainerStatus, mounted map[string]string) bool {
	phase := corev1.PodRunning
	if list == &s.InitContainerStatuses {
		phase = corev1.PodPending
	}
	now := corev1.ContainerStatus{Name: container.Name, Image: container.Image}
	image, ok := k.options.Images[container.Image]
	if !ok {
		now.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image " + container.Image}
		k.tell(ctx, p, s.set(list, corev1.PodPending, now))
		<-ctx.Done()
		return false
	}
	now.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Now()}
	k.tell(ctx, p, s.set(list, phase, now))
	code := k.runContainer(ctx, p, container, image, mounted)
	now.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reasonOf(code), FinishedAt: metav1.Now()}}
	status := s.set(list, phase, now)
	if phase == corev1.PodRunning && len(p.Spec.Containers) > 1 {
		k.tell(ctx, p, status)
	}
	return code == 0
}

func (k *Kubelet) isToldToEnd(p *pod) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return p.DeletionTimestamp != nil
}

func reasonOf(code int32) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

// tell writes the status of the pod.
func (k *Kubelet) tell(ctx context.Context, p *pod, status corev1.PodStatus) {
	for ctx.Err() == nil {
		now, err := k.client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return
		}
		if err == nil {
			now.Status = status
			if _, err = k.client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, now, metav1.UpdateOptions{}); err == nil {
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookInterval):
		}
	}
}
