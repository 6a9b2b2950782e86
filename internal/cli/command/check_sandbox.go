// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
)

const (
	// maxStart bounds what is read of the beginning of a log, in bytes.
	maxStart = 64 << 10
	// maxSaid bounds what is shown of a line of it, in bytes.
	maxSaid = 500
)

// checkSandbox says what the flags make of the sandbox of local runs and, where that depends on the kernel of the node, what
// the controller logged when it started.
func (s *session) checkSandbox(ctx context.Context, api client.Reader, deployment *appsv1.Deployment, flags lockdown.Flags) {
	row, warns := flags.SandboxRow()
	if row == "" {
		return
	}
	if flags.Sandbox == lockdown.SandboxAuto {
		if said := s.saidOfSandbox(ctx, api, deployment); said != "" {
			row, warns = said, !strings.HasPrefix(said, lockdown.InSandbox)
		}
	}
	if warns {
		s.Warningf("%s: %s", deployment.Name, row)
		return
	}
	s.Actionf("%s: %s", deployment.Name, row)
}

// saidOfSandbox returns what a pod of the Deployment logged of the sandbox. It is empty if no log can be read: whoever may not
// read it, or looks too late, gets what the flags say.
func (s *session) saidOfSandbox(ctx context.Context, api client.Reader, deployment *appsv1.Deployment) string {
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return "" // the API server rejects such a Deployment
	}
	pods := &corev1.PodList{}
	if err := api.List(ctx, pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return ""
	}
	said := ""
	for _, pod := range pods.Items {
		text, err := s.readStart(ctx, pod)
		if err == nil && (said == "" || !strings.HasPrefix(text, lockdown.InSandbox)) {
			said = text // the node without a sandbox counts
		}
	}
	return said
}

// readStart reads what a pod of the controller logged of the sandbox when it started.
func (s *session) readStart(ctx context.Context, pod corev1.Pod) (string, error) {
	config, err := cluster.Config(s.flags)
	if err != nil {
		return "", err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("making a client of the cluster: %w", err)
	}
	options := &corev1.PodLogOptions{Container: controllerBox, LimitBytes: new(int64(maxStart))}
	stream, err := clients.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	if err != nil {
		return "", fmt.Errorf("getting the log of pod %s: %w", pod.Name, err)
	}
	text, found := sandboxLine(io.LimitReader(stream, maxStart))
	if err := stream.Close(); err != nil {
		return "", fmt.Errorf("reading the log of pod %s: %w", pod.Name, err)
	}
	if !found {
		return "", errors.New("the log does not say")
	}
	return text, nil
}

// sandboxLine finds the line of a log of the controller that says whether local runs are in a sandbox.
func sandboxLine(log io.Reader) (text string, found bool) {
	for lines := bufio.NewReader(log); ; {
		line, err := lines.ReadBytes('\n')
		var entry struct {
			Msg string `json:"msg"`
		}
		if json.Unmarshal(line, &entry) == nil && (strings.HasPrefix(entry.Msg, lockdown.InSandbox) || strings.HasPrefix(entry.Msg, lockdown.NoSandbox)) {
			return bounded.Line(entry.Msg, maxSaid), true
		}
		if err != nil {
			return "", false
		}
	}
}
