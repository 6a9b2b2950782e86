// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// IsOfPod tells of a variable that a pod has of Kubernetes, or of the controller, and that
// no program gets. The address of the API server would have it take the account of the pod
// for its own where the Stack gives it none.
func IsOfPod(name string) bool {
	return strings.HasPrefix(name, "KUBERNETES_") || name == "POD_NAME" || name == "POD_UID" || name == "HOSTNAME"
}

// IsBackend tells of the variable that names a backend. That of a run is known before it
// has a pod.
func IsBackend(name string) bool { return name == "PULUMI_BACKEND_URL" }

// checkEnv refuses variables that no program would get, as spec.envRefs does. Some are for
// the runner: where Pulumi is, and how the API server is reached; and its own are kept
// apart.
func checkEnv(field string, env []corev1.EnvVar) error {
	for _, variable := range env {
		name := variable.Name
		switch err := grammar.CheckVariable(name, variable.Value); {
		case name == "PATH", strings.HasPrefix(name, "KUBERNETES_SERVICE_"), name == "POD_NAME", name == "POD_UID":
		case IsBackend(name):
			return &TemplateError{field, "cannot have the variable " + name + ": use spec.backend, or spec.envRefs"}
		case IsOfPod(name):
			return &TemplateError{field, "cannot have the variable " + name + ", which a program does not get: remove it"}
		case err != nil:
			return &TemplateError{field, "is refused: " + err.Error()}
		}
	}
	return nil
}
