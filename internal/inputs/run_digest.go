// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// runFormat is mixed into the digest of a run.
const runFormat = "run/1"

// RunInputs is all that decides what a run does. A Stack whose last successful
// run had these is up to date.
type RunInputs struct {
	// ProgramDigest is the digest of the artifact, or of the text of a Program.
	ProgramDigest string
	// Project that a Program is run as. An artifact brings its own.
	Project string
	// Dir of the program in the artifact.
	Dir string
	// Stack and Backend the run works on.
	Stack, Backend string
	// Inputs is the Digest of the Inputs.
	Inputs string
	// Options is the text of the fields that change what Pulumi does with the
	// program, as RunOptions returns it.
	Options string
	// ServiceAccount whose rights the program has, if any. What those rights are
	// may change without a run.
	ServiceAccount string
	// Workspace is the template of the pod that the program runs in, if it has one.
	Workspace string
	// Operation is that of a run that works from the state, as a destroy does, and empty
	// for updates and previews: these have nothing of each other's, though all else may
	// be the same.
	Operation string
}

// RunDigest returns the digest of all inputs of a run, as sha256:<hex>.
//
// Changing this function, or adding a field, gives every Stack another digest:
// it causes one run of every Stack when the controller is upgraded. A test pins
// a digest so that this is never done by accident.
func RunDigest(in RunInputs) string {
	fields := []string{runFormat, in.ProgramDigest, in.Dir, in.Stack, in.Backend, in.Inputs}
	// Stacks without one keep the digest they had before there were any.
	if in.Options != "" {
		fields = append(fields, "options="+in.Options)
	}
	if in.Project != "" {
		fields = append(fields, "project="+in.Project)
	}
	if in.ServiceAccount != "" {
		fields = append(fields, "serviceAccount="+in.ServiceAccount)
	}
	if in.Workspace != "" {
		fields = append(fields, "workspace="+in.Workspace)
	}
	if in.Operation != "" {
		fields = append(fields, "operation="+in.Operation)
	}
	sum := sha256.New()
	for _, field := range fields {
		// The length in front keeps "ab","c" and "a","bc" apart.
		fmt.Fprintf(sum, "%d:%s,", len(field), field) //nolint:errcheck // A hash never fails.
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
