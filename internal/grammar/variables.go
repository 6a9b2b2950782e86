// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RunVariable marks every process of a run with the run's ID. Child processes inherit it,
// so that leftovers of a run can be found anywhere in the process tree: plugins are in
// process groups of their own.
const RunVariable = "PULUMI_CONTROLLER_RUN"

// Variables that mean something to the controller, too.
const (
	// BackendVariable names the backend if the spec does not.
	BackendVariable = "PULUMI_BACKEND_URL"
	// PassphraseVariable holds the passphrase that secrets of the state are encrypted with.
	PassphraseVariable = "PULUMI_CONFIG_PASSPHRASE"
	// CredentialHelperVariable names a program that each call of the CLI starts, and whose answer
	// adds variables to the plugins of the run, and so to policy packs.
	CredentialHelperVariable = "PULUMI_CREDENTIAL_HELPER"
	// KubeconfigVariable names a kubeconfig in place of that in the home directory.
	KubeconfigVariable = "KUBECONFIG"
)

// ownedVariables lists the variables that a spec may not set, because the driver depends
// on them. PULUMI_BACKEND_URL is allowed: a spec may name the backend that way, and the
// caller has already read it.
func ownedVariables() []string {
	return []string{"HOME", "PATH", "TMPDIR", "PULUMI_HOME", "PULUMI_DEBUG_COMMANDS", RunVariable, CredentialHelperVariable, CredentialHelperVariable + "_ARGS"}
}

// unsafeVariables maps CLI switches that would make an interrupted run unrecoverable to
// why they may not be set.
func unsafeVariables() map[string]string {
	const layout = "locks in the old layout of a backend cannot be found: run " +
		"PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=1 pulumi state upgrade"
	return map[string]string{
		// With it the state is written only at the end, even without PULUMI_EXPERIMENTAL.
		"PULUMI_SKIP_CHECKPOINTS": "resources that a killed run has created would be missing in the state and be created again",
		// The old layout names locks differently. The first two create it, and the third
		// is needed to use it.
		"PULUMI_DIY_BACKEND_LEGACY_LAYOUT":            layout,
		"PULUMI_SELF_MANAGED_STATE_LEGACY_LAYOUT":     layout,
		"PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR": layout,
		// It sets the default of a flag, also for a recovery, which has no program.
		"PULUMI_RUN_PROGRAM": "set spec.runProgram instead, which also provides the program to run",
	}
}

// optionPrefix is the prefix of variables that set any flag of the CLI. The controller
// has to choose the flags, because it relies on them to understand what the CLI does.
const optionPrefix = "PULUMI_OPTION_"

// insteadOfOption returns what to set in the spec instead of such a variable.
func insteadOfOption(name string) string {
	instead := map[string]string{
		"TARGET":            "set spec.targets instead",
		"TARGET_DEPENDENTS": "set spec.targetDependents instead",
		"REFRESH":           "set spec.refresh instead",
		"EXPECT_NO_CHANGES": "set spec.expectNoRefreshChanges instead",
		"RUN_PROGRAM":       "set spec.runProgram instead",
		"PREVIEW_ONLY":      "set spec.preview instead",
		"SECRETS_PROVIDER":  "set spec.secretsProvider instead",
		"STACK":             "set spec.stack instead",
		"PARALLEL":          "set PULUMI_PARALLEL instead",
		"CONTINUE_ON_ERROR": "set PULUMI_CONTINUE_ON_ERROR instead",
	}
	return cmp.Or(instead[strings.TrimPrefix(name, optionPrefix)], "the controller chooses the flags of Pulumi")
}

// CheckEnv refuses variables that a run cannot be given. The error contains no values.
func CheckEnv(env map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(env)) {
		errs = append(errs, CheckVariable(name, env[name]))
	}
	return errors.Join(errs...)
}

// shellVariables lists variables that the shell which starts the CLI overrides, so that a
// program would not get the value in the spec.
func shellVariables() []string { return []string{"IFS", "OPTIND", "PPID", "PWD"} }

// isVariable reports whether the shell that starts the CLI passes on a variable with this
// name. It silently drops others.
func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || (c|0x20 >= 'a' && c|0x20 <= 'z')
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// CheckVariable refuses a variable that a run cannot be given.
func CheckVariable(name, value string) error {
	why, unsafe := unsafeVariables()[name]
	switch {
	case !isVariable(name):
		return fmt.Errorf("%q is not a valid name of an environment variable (letters, digits and underscores, not starting with a digit)", name)
	case slices.Contains(shellVariables(), name):
		return fmt.Errorf("the environment variable %s cannot be set: the shell that starts Pulumi sets it", name)
	case slices.Contains(ownedVariables(), name):
		return fmt.Errorf("the environment variable %s cannot be set: the controller sets it", name)
	case unsafe:
		return fmt.Errorf("the environment variable %s cannot be set: %s", name, why)
	case strings.HasPrefix(name, optionPrefix):
		return fmt.Errorf("the environment variable %s cannot be set: %s", name, insteadOfOption(name))
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("the value of the environment variable %s contains a NUL byte", name)
	}
	return nil
}

// CheckLoader refuses variables of the dynamic loader: they put code into each process of the run, and so
// into policy packs. It is for runs with those.
func CheckLoader(env map[string]string) error {
	var errs []error
	for _, name := range []string{"LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD"} {
		if _, has := env[name]; has {
			errs = append(errs, fmt.Errorf("the environment variable %s cannot be set in the Stack or in the image of the run: "+
				"a PolicySet selects the Stack, and the variable would load code into its policy packs", name))
		}
	}
	return errors.Join(errs...)
}
