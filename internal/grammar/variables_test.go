// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestCheckEnvNamesWhatIsWrongAndNoValue(t *testing.T) {
	g := NewWithT(t)
	g.Expect(CheckEnv(map[string]string{"AWS_REGION": "x", "PULUMI_BACKEND_URL": "y"})).To(Succeed())
	err := CheckEnv(map[string]string{"PATH": "secret1", "a=b": "secret2", "": "secret3", "NUL": "secret4\x00"})
	g.Expect(err).To(MatchError(And(
		ContainSubstring("PATH cannot be set"), ContainSubstring(`"a=b" is not a valid name`), ContainSubstring(`"" is not a valid name`),
		ContainSubstring("NUL contains a NUL byte"), Not(ContainSubstring("secret")))))
}

// Allowed are the variables that /bin/sh, which starts the CLI, passes on unchanged.
func TestCheckEnvAllowsWhatTheShellPassesOn(t *testing.T) {
	g := NewWithT(t)
	for name, allowed := range map[string]bool{
		"A": true, "_": true, "_a1": true, "aZ9_": true, "TERM": true, "LANG": true, "OPTARG": true,
		"my.var": false, "MY-VAR": false, "9LIVES": false, "sp ace": false, "\u00fcn\u00ef": false, "A\n": false, "[": false, "`": false, "{": false, "@": false,
		"IFS": false, "OPTIND": false, "PPID": false, "PWD": false,
	} {
		g.Expect(CheckEnv(map[string]string{name: "zz"}) == nil).To(Equal(allowed), "%q", name)
		if !allowed {
			continue
		}
		shell := exec.Command("/bin/sh", "-c", `exec "$0"`, "/usr/bin/env")
		shell.Env = []string{name + "=zz"}
		printed, err := shell.Output()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(strings.Split(string(printed), "\n")).To(ContainElement(name + "=zz"))
	}
}

func TestCheckEnvRefusesUnsafeVariables(t *testing.T) {
	g := NewWithT(t)
	for name, why := range map[string]string{
		"PULUMI_SKIP_CHECKPOINTS":                     "created again",
		"PULUMI_DIY_BACKEND_LEGACY_LAYOUT":            "pulumi state upgrade",
		"PULUMI_SELF_MANAGED_STATE_LEGACY_LAYOUT":     "pulumi state upgrade",
		"PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR": "pulumi state upgrade",
		"PULUMI_RUN_PROGRAM":                          "spec.runProgram",
		"PULUMI_CREDENTIAL_HELPER":                    "the controller sets it",
		"PULUMI_CREDENTIAL_HELPER_ARGS":               "the controller sets it",
		"PULUMI_OPTION_RUN_PROGRAM":                   "set spec.runProgram instead",
		"PULUMI_OPTION_TARGET":                        "set spec.targets instead",
		"PULUMI_OPTION_PARALLEL":                      "set PULUMI_PARALLEL instead",
		"PULUMI_OPTION_EXCLUDE":                       "the controller chooses the flags of Pulumi",
		"PULUMI_OPTION_":                              "the controller chooses the flags of Pulumi",
	} {
		g.Expect(CheckEnv(map[string]string{name: "secret"})).To(MatchError(And(
			ContainSubstring(name+" cannot be set: "), ContainSubstring(why), Not(ContainSubstring("secret")))))
	}
	g.Expect(CheckEnv(map[string]string{"PULUMI_PARALLEL": "4", "PULUMI_CONTINUE_ON_ERROR": "true", "PULUMI_OPTIONS": "x"})).To(Succeed())
}
