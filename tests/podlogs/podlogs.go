// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package podlogs fakes a node from which the API server gets the logs of a pod. Nothing
// runs on it.
package podlogs

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Node is a fake node with one pod, of the controller or of a run.
type Node struct {
	server *httptest.Server
}

// Options describes the node and its pod.
type Options struct {
	// Node and Pod are names. Namespace is the pod's.
	Node, Namespace, Pod string
	// Run and Stack make it the pod of a run that is a Job, in place of one of the
	// controller.
	Run, Stack string
	// Existing is for a pod that is there already, and bound to Node.
	Existing bool
	// Log returns what the pod has logged so far. It is polled while a client follows
	// the log.
	Log func() ([]byte, error)
}

// Start creates a pod, with a Deployment if it is one of the controller, on a node whose
// logs it serves. The labels are those that the manifests and the controller set.
func Start(ctx context.Context, api client.Client, options Options) (*Node, error) {
	node := &Node{server: httptest.NewTLSServer(serve(options))}
	if err := node.create(ctx, api, options); err != nil {
		node.Stop()
		return nil, fmt.Errorf("making a node: %w", err)
	}
	return node, nil
}

// Stop stops serving logs. The objects in the API server stay.
func (n *Node) Stop() {
	n.server.CloseClientConnections()
	n.server.Close()
}

func (n *Node) create(ctx context.Context, api client.Client, options Options) error {
	host, port, err := net.SplitHostPort(n.server.Listener.Addr().String())
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return err
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: options.Node}}
	if err := api.Create(ctx, node); err != nil {
		return err
	}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(number)
	if err := api.Status().Update(ctx, node); err != nil {
		return err
	}
	if options.Existing {
		return nil
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: options.Namespace}}
	if err := api.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if options.Run != "" {
		return createRun(ctx, api, options)
	}
	spec := podSpec(options)
	selected := map[string]string{"app": "pulumi-controller"}
	labels := map[string]string{"app.kubernetes.io/component": "pulumi-controller", "app.kubernetes.io/part-of": "flux"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: "pulumi-controller", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selected},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selected}, Spec: spec},
		},
	}
	if err := api.Create(ctx, deployment); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return api.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: options.Pod, Labels: selected}, Spec: spec,
	})
}

func createRun(ctx context.Context, api client.Client, options Options) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: options.Namespace, Name: options.Pod,
			Labels: map[string]string{"pulumi.com/run": options.Run}, Annotations: map[string]string{"pulumi.com/stack": options.Stack},
		},
		Spec: podSpec(options),
	}
	if err := api.Create(ctx, pod); err != nil {
		return err
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: options.container(), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	return api.Status().Update(ctx, pod)
}

func podSpec(options Options) corev1.PodSpec {
	return corev1.PodSpec{NodeName: options.Node, Containers: []corev1.Container{{Name: options.container(), Image: "pulumi-controller"}}}
}

func (o Options) container() string {
	if o.Run != "" {
		return "pulumi"
	}
	return "manager"
}

// serve answers like a kubelet: GET /containerLogs/NAMESPACE/POD/CONTAINER.
func serve(options Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/containerLogs/"+options.Namespace+"/"+options.Pod+"/"+options.container()) {
			http.NotFound(w, r)
			return
		}
		follow := r.URL.Query().Get("follow") == "true"
		for sent := 0; ; {
			log, err := options.Log()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			if _, err := w.Write(log[min(sent, len(log)):]); err != nil {
				return
			}
			sent = len(log)
			if !follow {
				return
			}
			if flusher, ok := w.(http.Flusher); ok {
				flusher.Flush()
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(50 * time.Millisecond): // a kubelet also polls the file
			}
		}
	})
}
