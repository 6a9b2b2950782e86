// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// runFormat is mixed into the digest of a run.
const runFormat = "run/1"

// RunInputs is everything that determines what a run does. A Stack is up to date if its
// last successful run had the same.
type RunInputs struct {
	// ProgramDigest is the digest of the artifact or of the text of a Program.
	ProgramDigest string
	// Project of a Program. An artifact has its own.
	Project string
	// Dir of the program in the artifact.
	Dir string
	// Stack and Backend the run works on.
	Stack, Backend string
	// Inputs is the Digest of the Inputs.
	Inputs string
	// Options is the result of RunOptions.
	Options string
	// ServiceAccount that the program runs as, if any. Changes of its rights trigger no
	// run.
	ServiceAccount string
	// Workspace is the template of the program's pod, if any.
	Workspace string
	// Operation of a run that works from the state, such as a destroy. It is empty for
	// updates and previews. A run of one kind must not count as a run of the other, even
	// if all other inputs are the same.
	Operation string
	// Identity of the service account in clouds, if any.
	Identity string
}

// RunDigest returns the digest of all inputs of a run, as sha256:<hex>.
//
// Changing this function, or adding a field, changes the digest of every Stack: upgrading
// the controller then triggers a run of every Stack. A test pins a digest so that this
// never happens by accident.
func RunDigest(in RunInputs) string {
	fields := []string{runFormat, in.ProgramDigest, in.Dir, in.Stack, in.Backend, in.Inputs}
	// Added only if set, so that Stacks without these keep the digest they had before the
	// fields existed.
	if in.Options != "" {
		fields = append(fields, "options="+in.Options)
	}
	if in.Project != "" {
		fields = append(fields, "project="+in.Project)
	}
	if in.ServiceAccount != "" {
		fields = append(fields, "serviceAccount="+in.ServiceAccount)
	}
	if in.Identity != "" {
		fields = append(fields, "identity="+in.Identity)
	}
	if in.Workspace != "" {
		fields = append(fields, "workspace="+in.Workspace)
	}
	if in.Operation != "" {
		fields = append(fields, "operation="+in.Operation)
	}
	return digestOfFields(fields)
}

// planFormat and keyFormat are mixed into the digest of the inputs of a plan, and its key, and
// policyFormat into that of a check of policies.
const (
	planFormat   = "plan/1"
	keyFormat    = "plan-key/2"
	policyFormat = "policies/1"
	// controllerFormat is mixed into the digest of the inputs with values of the controller itself.
	controllerFormat = "plan-controller/1"
)

// PlanDigest returns the digest of the inputs of a run for a plan of it: all but the program,
// which is known by what the plan says that it does. A commit that only approves the plan is
// another artifact of the program, and must leave the digest as it is. Packs is the digest of the
// policy packs that updates run with, which are no reason to run the program again, "" if there are
// none.
//
// Changing this function makes every approval void.
func PlanDigest(in RunInputs, packs string) string {
	fields := []string{planFormat, in.Dir, in.Project, in.Stack, in.Backend, in.Inputs, in.Options, in.ServiceAccount, in.Workspace, in.Operation}
	if in.Identity != "" {
		fields = append(fields, "identity="+in.Identity)
	}
	if packs != "" { // other plans keep the digest that they had before there were policies
		fields = append(fields, "policies="+packs)
	}
	return digestOfFields(fields)
}

// PolicyDigest returns the digest of what a check of policies is of: the packs, and the inputs of
// the run that it previews.
func PolicyDigest(packs, run string) string {
	return digestOfFields([]string{policyFormat, packs, run})
}

// PlanKey returns the key of the digests of values in the plans of a stack, which nobody can
// compute without the key of the controller: with one that is known, a weak secret could be
// guessed from its digest.
//
// It is the same for all Stacks of a namespace with the same stack, so that what was approved
// for the preview of a pull request is the same plan after the merge. Another namespace has
// other keys: whoever may read Secrets there could read the key from the Secret of a Job. Its
// Secrets have other UIDs too, so that its inputs are not the same in any case. A preview there
// has the key, and the digest of the inputs, of the Stack in spec.previewOf if that allows it.
func PlanKey(controller []byte, namespace, stack string) string {
	key := hmac.New(sha256.New, controller)
	for _, field := range []string{keyFormat, namespace, stack} {
		_, _ = fmt.Fprintf(key, "%d:%s,", len(field), field) // never fails
	}
	return hex.EncodeToString(key.Sum(nil))
}

func digestOfFields(fields []string) string {
	sum := sha256.New()
	for _, field := range fields {
		// The length prefix keeps "ab","c" and "a","bc" apart.
		fmt.Fprintf(sum, "%d:%s,", len(field), field) //nolint:errcheck // A hash never fails.
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
