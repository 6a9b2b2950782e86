// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// version is the version of what the controller asks of pods. It is raised with a field of
// run.Run that a pod must not ignore; needs says for which runs.
const version = 3

// needs returns the version that a pod has to know for the run.
func needs(r run.Run) int {
	switch {
	case len(r.Policies) > 0: // a pod that does not know them would not be guarded by them
		return 3
	case r.Approved != "" || !run.KindOf(r.Operation).InAllVersions:
		return 2
	}
	return 1
}

// sent is an Input as the Secret holds it. The pod may have another version than its
// controller: --runner-image names its image, and a tag moves. Pods of version 1 read only the
// Input, ignore what they do not know of its Run, and take an operation that they do not know
// for an update.
type sent struct {
	Input
	// Newer is the Run if it needs more than version 1, and Needs the version that it needs.
	Newer *run.Run `json:",omitempty"`
	Needs int      `json:",omitempty"`
}

// forAllPods returns what every pod either does as it is meant, or does not do. A pod of
// version 1 gets a preview of no stack in place of a run that needs more: it fails before
// it starts Pulumi.
func forAllPods(input Input) sent {
	todo := input.Run
	least := needs(todo)
	if least == 1 {
		return sent{Input: input}
	}
	input.Run = run.Run{
		ID: todo.ID, Namespace: todo.Namespace, Name: todo.Name, UID: todo.UID, Revision: todo.Revision,
		Operation: run.Preview, Timeout: todo.Timeout,
	}
	return sent{Input: input, Newer: &todo, Needs: least}
}

// input is the inverse of forAllPods.
func (s sent) input() (Input, error) {
	if s.Needs > version {
		return Input{}, fmt.Errorf("the version of pulumi-controller in the pod is too old for it: it knows version %d of runs, and this is version %d. "+
			"Use the version of the controller in --runner-image", version, s.Needs)
	}
	if s.Newer != nil {
		s.Input.Run = *s.Newer
	}
	return s.Input, nil
}
