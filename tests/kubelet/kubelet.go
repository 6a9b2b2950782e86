// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubelet plays a node for tests on machines that can run none: it starts the containers of pods as processes of
// this machine, in a PID namespace and with a host name of their own, with their volumes as directories, and writes the
// status of the pods as a kubelet does. There is no image, no network, no user and no limit of a pod's own: what depends on
// these is for a real node. Everything else is real: the program, its arguments, the account's token, signals, exit codes.
package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
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
	// nodeName is that of the node, which has no object.
	nodeName = "node"
	// lookInterval is how often the pods are listed.
	lookInterval = 200 * time.Millisecond
)

// Options of a Kubelet. All are required.
type Options struct {
	// Config is how the API server is reached, as somebody who may do everything.
	Config *rest.Config
	// Dir is where the volumes of pods and the logs of containers are kept.
	Dir string
	// Images has for each image that can be pulled what its entrypoint is, and its PATH.
	Images map[string]Image
}

// Image is what is known of an image.
type Image struct {
	Entrypoint []string
	Path       string
}

// Kubelet is a node.
type Kubelet struct {
	options Options
	client  *kubernetes.Clientset
	work    sync.WaitGroup

	mu   sync.Mutex
	pods map[string]*pod
}

// pod is one that was started here.
type pod struct {
	*corev1.Pod
	cancel context.CancelFunc
	// killed says that Kill has killed it.
	killed bool
	// pid is that of the first process of the container that runs, as this machine sees it.
	pid int
}

// CanRun tells why pods cannot be run here.
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
	k := &Kubelet{options: options, client: client, pods: map[string]*pod{}}
	k.work.Go(func() { k.run(ctx) })
	return k, nil
}

// Wait returns when everything that was started has ended.
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

// look starts the pods that are new, and tells those to end that are being deleted.
func (k *Kubelet) look(ctx context.Context) {
	list, err := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return // the API server may be away, and is asked again
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range list.Items {
		found := &list.Items[i]
		known, ok := k.pods[string(found.UID)]
		switch {
		case found.Spec.NodeName == "" && found.DeletionTimestamp == nil:
			k.bind(ctx, found) // and started at the next look
		case !ok && found.DeletionTimestamp == nil && found.Status.Phase == corev1.PodPending:
			life, cancel := context.WithCancel(ctx)
			started := &pod{Pod: found, cancel: cancel}
			k.pods[string(found.UID)] = started
			k.work.Go(func() { k.runPod(life, started) })
		case ok && found.DeletionTimestamp != nil && known.DeletionTimestamp == nil:
			known.DeletionTimestamp = found.DeletionTimestamp
			known.stop()
		case !ok && found.DeletionTimestamp != nil:
			k.remove(ctx, found)
		}
	}
}

// bind puts the pod on this node, as a scheduler does. The API server removes one that is on none as soon as it is deleted.
func (k *Kubelet) bind(ctx context.Context, found *corev1.Pod) {
	_ = k.client.CoreV1().Pods(found.Namespace).Bind(ctx, &corev1.Binding{ // or the next look does
		ObjectMeta: metav1.ObjectMeta{Namespace: found.Namespace, Name: found.Name, UID: found.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
	}, metav1.CreateOptions{})
}

// stop tells the container to end, and kills it when its time has passed.
func (p *pod) stop() {
	if p.pid == 0 {
		p.cancel() // nothing was started yet, or only what can be cut
		return
	}
	_ = syscall.Kill(p.pid, syscall.SIGTERM)
	time.AfterFunc(time.Duration(*p.Spec.TerminationGracePeriodSeconds)*time.Second, p.cancel)
}

// Kill kills all processes of a pod, as the end of its machine does, or the kernel when there is no memory.
func (k *Kubelet) Kill(uid string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.pods[uid]
	if !ok || known.pid == 0 {
		return errors.New("no container of the pod runs")
	}
	known.killed = true
	return syscall.Kill(known.pid, syscall.SIGKILL)
}

// Log is where the log of a pod is.
func (k *Kubelet) Log(uid string) string { return filepath.Join(k.options.Dir, uid, "log") }

func (k *Kubelet) runPod(ctx context.Context, p *pod) {
	defer p.cancel()
	status := k.runContainers(ctx, p)
	// What the container has done is told, also at the end of the test.
	telling, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if status.Phase != "" {
		k.tell(telling, p, status)
	}
	k.mu.Lock()
	deleted := p.DeletionTimestamp != nil
	k.mu.Unlock()
	if deleted {
		k.remove(telling, p.Pod)
	}
}

func (k *Kubelet) remove(ctx context.Context, p *corev1.Pod) {
	_ = k.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{ // or the next look does
		GracePeriodSeconds: ptr.To(int64(0)), Preconditions: &metav1.Preconditions{UID: &p.UID},
	})
}

// runContainers runs one container after the other, and returns the status of the pod in the end.
func (k *Kubelet) runContainers(ctx context.Context, p *pod) corev1.PodStatus {
	status := corev1.PodStatus{Phase: corev1.PodPending, StartTime: &metav1.Time{Time: time.Now()}}
	mounted, err := k.mount(ctx, p)
	if err != nil {
		return corev1.PodStatus{Phase: corev1.PodFailed, Reason: "FailedMount", Message: err.Error()}
	}
	for i, container := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		statuses := &status.InitContainerStatuses
		if i >= len(p.Spec.InitContainers) {
			statuses, status.Phase = &status.ContainerStatuses, corev1.PodRunning
		}
		now := corev1.ContainerStatus{Name: container.Name, Image: container.Image}
		image, ok := k.options.Images[container.Image]
		if !ok {
			now.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image " + container.Image}
			*statuses, status.Phase = append(*statuses, now), corev1.PodPending
			k.tell(ctx, p, status)
			<-ctx.Done()
			return corev1.PodStatus{Phase: corev1.PodFailed}
		}
		now.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Now()}
		k.tell(ctx, p, with(status, i < len(p.Spec.InitContainers), now))
		code := k.runContainer(ctx, p, container, image, mounted)
		now.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reasonOf(code), FinishedAt: metav1.Now()}}
		*statuses = append(*statuses, now)
		if code != 0 {
			status.Phase = corev1.PodFailed
			return status
		}
	}
	status.Phase = corev1.PodSucceeded
	return status
}

func with(status corev1.PodStatus, isInit bool, now corev1.ContainerStatus) corev1.PodStatus {
	if isInit {
		status.InitContainerStatuses = append(slices.Clone(status.InitContainerStatuses), now)
	} else {
		status.ContainerStatuses = append(slices.Clone(status.ContainerStatuses), now)
	}
	return status
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
