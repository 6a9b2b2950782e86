// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// RunLabel is on all objects of a run. Its value is the ID of the run.
const RunLabel = "pulumi.com/run"

const (
	// stackLabel has the name of the Stack, where it can be the value of a label.
	stackLabel = "pulumi.com/stack"
	// stackAnnotation has it whatever it is.
	stackAnnotation = "pulumi.com/stack"
	// operationLabel has what the run does.
	operationLabel = "pulumi.com/operation"
	// revisionAnnotation has the revision that is run.
	revisionAnnotation = "pulumi.com/revision"
	// partLabel tells the controllers of two shards apart, which count their own.
	partLabel = "pulumi.com/controller"
	// managedByLabel is Kubernetes' own.
	managedByLabel = "app.kubernetes.io/managed-by"
)

// manager is the value of managedByLabel.
const manager = "pulumi-controller"

// Name is the name of all objects of a run: who makes them twice finds them there. It
// is the host name of the pod, too, by which the locks of the run are known.
func Name(runID string) string { return "pulumi-run-" + runID }

// validID tells whether the ID can be part of a name, and of a host name.
func validID(runID string) bool {
	return runID != "" && len(validation.IsDNS1123Label(Name(runID))) == 0
}

// labelsOf are those of each object of the run.
func labelsOf(r run.Run, part string) map[string]string {
	all := map[string]string{
		managedByLabel: manager,
		RunLabel:       r.ID,
		operationLabel: string(r.Operation),
	}
	if part != "" {
		all[partLabel] = part
	}
	if len(validation.IsValidLabelValue(r.Name)) == 0 {
		all[stackLabel] = r.Name
	}
	return all
}

// annotationsOf are those of each object of the run.
func annotationsOf(r run.Run) map[string]string {
	all := map[string]string{stackAnnotation: r.Name}
	if r.Revision != "" {
		all[revisionAnnotation] = r.Revision
	}
	return all
}

// isReserved tells whether a label or annotation is the controller's, or that of
// Kubernetes' own Job controller.
func isReserved(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "pulumi.com" || domain == "batch.kubernetes.io" ||
		key == managedByLabel || key == "job-name" || key == "controller-uid"
}
