// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// IsOfPod reports whether a variable of the pod comes from Kubernetes or the controller,
// so that no program gets it. With the address of the API server, a program would use the
// account of the pod even if the Stack gives it none.
func IsOfPod(name string) bool {
	return strings.HasPrefix(name, "KUBERNETES_") || name == "POD_NAME" || name == "POD_UID" || name == "HOSTNAME"
}

// IsBackend reports whether a variable names the backend. The backend of a run is known
// before it has a pod.
func IsBackend(name string) bool { return name == grammar.BackendVariable }

// checkEnv refuses variables that no program would get, as spec.envRefs does. It accepts
// those that are for the runner: where Pulumi is, and how to reach the API server.
func checkEnv(field string, env []corev1.EnvVar) error {
	for _, variable := range env {
		name := variable.Name
		switch err := grammar.CheckVariable(name, variable.Value); {
		case name == "PATH", strings.HasPrefix(name, "KUBERNETES_SERVICE_"):
		case IsBackend(name):
			return &TemplateError{field, "cannot have the variable " + name + ": use spec.backend, or spec.envRefs"}
		case IsOfPod(name):
			return &TemplateError{field, "cannot have the variable " + name + ", which programs do not get: remove it"}
		case err != nil:
			return &TemplateError{field, "is refused: " + err.Error()}
		}
	}
	return nil
}
