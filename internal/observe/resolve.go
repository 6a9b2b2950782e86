// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"maps"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// resolve resolves the values that the spec asks for, and checks that a run can use them.
func (o *Observer) resolve(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if err := checkConfigKeys(stack, seen); err != nil {
		return err
	}
	resolved, err := inputs.Resolve(ctx, o.APIReader, stack, o.inputOptions())
	if err != nil {
		return err
	}
	if err := checkVariables(resolved); err != nil {
		return err
	}
	if err := checkProgramConfig(stack, resolved); err != nil {
		return err
	}
	if err := checkRequired(stack, seen.Program, resolved); err != nil {
		return err
	}
	if err := checkDeclared(stack, seen.Program, resolved); err != nil {
		return err
	}
	if err := hideDeclared(seen.Program, resolved); err != nil {
		return err
	}
	if err := checkBackend(stack, resolved); err != nil {
		return err
	}
	if len(stack.Spec.Environment) > 0 && !grammar.HasEnvironments(Backend(stack, resolved.Env)) {
		return &inputs.InvalidError{Field: "spec.environment",
			Problem: "needs Pulumi Cloud, but the Stack has another backend: remove it, or set the backend to https://api.pulumi.com"}
	}
	if err := seen.checkIdentity(resolved); err != nil {
		return err
	}
	seen.Inputs, seen.inputsDigest = resolved, resolved.Digest
	return seen.chooseAccount(stack)
}

// checkBackend refuses a backend that Pulumi does not have, and a stack name that the
// backend cannot have.
func checkBackend(stack *v1.Stack, resolved *inputs.Inputs) error {
	url := Backend(stack, resolved.Env)
	if err := grammar.CheckBackend(url); err != nil {
		field := resolved.EnvFields[grammar.BackendVariable]
		switch {
		case stack.Spec.Backend != "":
			return &inputs.InvalidError{Field: "spec.backend", Problem: err.Error()}
		case isEnvRef(field) && stack.Spec.EnvRefs[grammar.BackendVariable].Type == v1.ResourceRefLiteral:
			return &inputs.InvalidError{Field: field, Problem: err.Error()}
		}
		return &inputs.UnusableError{Field: field, Problem: "the variable " + grammar.BackendVariable + " " + err.Error()}
	}
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err == nil {
		err = name.CheckOrganization(url)
	}
	if err != nil {
		return &inputs.InvalidError{Field: "spec.stack", Problem: err.Error()}
	}
	return nil
}

// checkVariables refuses variables that a run cannot have. The error names what to edit:
// the spec, or the listed object.
func checkVariables(resolved *inputs.Inputs) error {
	for _, name := range slices.Sorted(maps.Keys(resolved.Env)) {
		err := grammar.CheckVariable(name, resolved.Env[name])
		if err == nil {
			continue
		}
		field := resolved.EnvFields[name]
		if isEnvRef(field) {
			return &inputs.InvalidError{Field: "spec.envRefs", Problem: err.Error()}
		}
		return &inputs.UnusableError{Field: field, Problem: err.Error()}
	}
	return nil
}

// chooseAccount drops the default service account if a listed object sets KUBECONFIG, as
// inputs.ServiceAccount does for envRefs.
func (seen *Observation) chooseAccount(stack *v1.Stack) error {
	field, own := seen.Inputs.EnvFields[grammar.KubeconfigVariable]
	switch {
	case !own || isEnvRef(field):
		return nil
	case stack.Spec.ServiceAccountName != "":
		return &inputs.UnusableError{Field: field, Problem: "spec.serviceAccountName already provides a kubeconfig: remove one of the two"}
	}
	seen.dropAccount()
	return nil
}

// dropAccount leaves the program without an account, and without its identity.
func (seen *Observation) dropAccount() {
	seen.Account, seen.Identity = "", identity.Identity{}
}

func isEnvRef(field string) bool { return strings.HasPrefix(field, "spec.envRefs.") }
