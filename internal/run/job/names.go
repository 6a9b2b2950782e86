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
	// stackLabel is the name of the Stack, if it is a valid label value.
	stackLabel = "pulumi.com/stack"
	// stackAnnotation is the name of the Stack in any case.
	stackAnnotation = "pulumi.com/stack"
	// operationLabel is the operation of the run.
	operationLabel = "pulumi.com/operation"
	// revisionAnnotation is the revision of the program.
	revisionAnnotation = "pulumi.com/revision"
	// partLabel distinguishes the controllers of shards, each of which counts its own
	// runs.
	partLabel = "pulumi.com/controller"
	// managedByLabel is the recommended label of Kubernetes.
	managedByLabel = "app.kubernetes.io/managed-by"
)

// manager is the value of managedByLabel.
const manager = "pulumi-controller"

// Name is the name of all objects of a run, so that creating them twice finds them. It is
// also the host name of the pod, by which the locks of the run are known.
func Name(runID string) string { return "pulumi-run-" + runID }

// JobName returns the name of the Job of a run.
func (r *Runner) JobName(runID string) string { return Name(runID) }

// validID reports whether the ID can be part of a name, and of a host name.
func validID(runID string) bool {
	return runID != "" && len(validation.IsDNS1123Label(Name(runID))) == 0
}

// labelsOf returns the labels of all objects of the run.
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

// annotationsOf returns the annotations of all objects of the run.
func annotationsOf(r run.Run) map[string]string {
	all := map[string]string{stackAnnotation: r.Name}
	if r.Revision != "" {
		all[revisionAnnotation] = r.Revision
	}
	return all
}

// isReserved reports whether a label or annotation belongs to this controller or to the
// Job controller.
func isReserved(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "pulumi.com" || domain == "batch.kubernetes.io" ||
		key == managedByLabel || key == "job-name" || key == "controller-uid"
}
