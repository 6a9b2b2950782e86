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

// RunVariable marks every process of a run with the run's ID. Children inherit
// it, so that what a run left behind can be found wherever it hangs in the
// process tree: plugins are in process groups of their own.
const RunVariable = "PULUMI_CONTROLLER_RUN"

// ownedVariables lists the variables that a spec may not set, because the
// driver depends on them. PULUMI_BACKEND_URL is not among them: a spec may name
// the backend that way, and the caller has taken it from there.
func ownedVariables() []string {
	return []string{"HOME", "PATH", "TMPDIR", "PULUMI_HOME", "PULUMI_DEBUG_COMMANDS", RunVariable}
}

// unsafeVariables are the switches of the CLI with which an interrupted run could
// not be recovered from, each with why it may not be set.
func unsafeVariables() map[string]string {
	const layout = "a lock that was left in the old layout of a backend is not found: run pulumi state upgrade"
	return map[string]string{
		// The state is written at the end alone, also without PULUMI_EXPERIMENTAL.
		"PULUMI_SKIP_CHECKPOINTS": "what a run that is killed has created would be in no state, and be created again",
		// Locks have other names in it. It comes into being by the first two, and can
		// only be used with the third.
		"PULUMI_DIY_BACKEND_LEGACY_LAYOUT":            layout,
		"PULUMI_SELF_MANAGED_STATE_LEGACY_LAYOUT":     layout,
		"PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR": layout,
		// It is the default of a flag, also in a recovery, which has no program.
		"PULUMI_RUN_PROGRAM": "set spec.runProgram instead, so that there is a program to run",
	}
}

// optionPrefix begins the variables with which the CLI sets any of its flags, which
// are the controller's to choose: it reads what the CLI does by them.
const optionPrefix = "PULUMI_OPTION_"

// insteadOfOption tells how the spec says what such a variable does.
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
	return cmp.Or(instead[strings.TrimPrefix(name, optionPrefix)], "the flags of Pulumi are the controller's to choose")
}

// CheckEnv refuses variables that a run cannot be given. No value is part of
// the error.
func CheckEnv(env map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(env)) {
		errs = append(errs, CheckVariable(name, env[name]))
	}
	return errors.Join(errs...)
}

// shellVariables lists the variables that the shell which starts the CLI keeps for
// itself: a program would not get what the spec says.
func shellVariables() []string { return []string{"IFS", "OPTIND", "PPID", "PWD"} }

// isVariable tells whether a name is one that the shell which starts the CLI passes
// on: it drops any other without a word.
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
		return fmt.Errorf("%q is not the name of an environment variable, which has letters, digits and underscores, and does not begin with a digit", name)
	case slices.Contains(shellVariables(), name):
		return fmt.Errorf("the environment variable %s cannot be set: the shell that starts Pulumi has its own", name)
	case slices.Contains(ownedVariables(), name):
		return fmt.Errorf("the environment variable %s cannot be set: the controller sets it", name)
	case unsafe:
		return fmt.Errorf("the environment variable %s cannot be set: %s", name, why)
	case strings.HasPrefix(name, optionPrefix):
		return fmt.Errorf("the environment variable %s cannot be set: %s", name, insteadOfOption(name))
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("the environment variable %s has a NUL byte in its value", name)
	}
	return nil
}
