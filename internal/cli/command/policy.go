// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/policytest"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// policyName is the group whose commands have the exit codes of a preview.
const policyName = "policy"

// policyFlags are those of policy test.
type policyFlags struct {
	program, stack, policySet, pack, output string
	config                                  []string
}

func newPolicy(s *session) *cobra.Command {
	flags := &policyFlags{}
	test := &cobra.Command{
		Use:   "test DIRECTORY",
		Short: "Test a policy pack with a local program",
		Long: `Previews the program of a local directory with the policy pack of another one, and lists the violations. It runs the pulumi
of this machine, not the cluster: on an empty stack of its own, which is gone afterwards, so that each resource is checked as
one that is created. Install the packages of both before. The preview has your environment, and with it your credentials of
the cloud. Secrets in the config of the stack are replaced by the text [secret].

With --policyset, the policies have the config of the PolicySet in that file. The file also has the ConfigMap, if the
PolicySet names one.

The exit code is 0 if no mandatory policy is violated, 1 if one is, and above 1 for an error.`,
		Example: `  # Test the pack in the directory tags
  flux pulumi policy test tags --program ../network

  # Test it with the config of a PolicySet, and the config of a stack
  flux pulumi policy test tags --program ../network --stack production --policyset policies.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.testPolicies(cmd, args[0], flags) },
	}
	set := test.Flags()
	set.StringVar(&flags.program, "program", "", "the directory of the program")
	set.StringVar(&flags.stack, "stack", "test", "the name of the stack, whose config is read from the program's Pulumi.<stack>.yaml")
	set.StringArrayVarP(&flags.config, "config", "c", nil, "more config for the program, as KEY=VALUE")
	set.StringVar(&flags.policySet, "policyset", "", "a file with the PolicySet that has the config of the policies, or - for stdin")
	set.StringVar(&flags.pack, "pack", "", "the name of the pack in the PolicySet, if the directory has another name")
	addOutputFlag(test, set, &flags.output, "print the violations as json or yaml, as in the status of a Stack")
	_ = test.MarkFlagRequired("program") // there is such a flag
	_ = test.MarkFlagDirname("program")
	return newGroup(policyName, "Test policies", test)
}

func (s *session) testPolicies(cmd *cobra.Command, dir string, flags *policyFlags) error {
	ctx, cancel := s.limited(cmd)
	defer cancel()
	pack, err := s.packOf(ctx, dir, flags)
	if err != nil {
		return err
	}
	s.Waitingf("previewing %s with policy pack %s", flags.program, pack.Name)
	found, err := policytest.Test{
		Pack: dir, PackConfig: pack.Config, Program: flags.program, Stack: flags.stack, Config: flags.config,
	}.Run(ctx)
	if preview := (*policytest.PreviewError)(nil); errors.As(err, &preview) {
		fmt.Fprintln(s.Err, table.VisibleLines(preview.Output))
	}
	if err != nil {
		return err
	}
	for n := range found.Listed {
		found.Listed[n].PolicySet, found.Listed[n].Pack = pack.Set, pack.Name
	}
	if err := s.showViolations(found, flags.output); err != nil {
		return err
	}
	text := fmt.Sprintf("policy pack %s: %s of mandatory policies, %d of advisory policies",
		pack.Name, plural.Of(found.Mandatory, "violation", "violations"), found.Advisory)
	if found.Mandatory > 0 {
		return &exitError{Code: exitFailed, Err: errors.New(text)}
	}
	s.Successf("%s", text)
	return nil
}

func (s *session) showViolations(found policytest.Findings, output string) error {
	if output != "" {
		return printValue(s.Out, output, v1.PoliciesStatus{
			Violations: found.Listed, Mandatory: int32(found.Mandatory), Advisory: int32(found.Advisory),
		})
	}
	if len(found.Listed) == 0 {
		return nil
	}
	lines := make([][]string, 0, len(found.Listed))
	for _, v := range found.Listed {
		lines = append(lines, []string{v.Level, v.Policy, resourceText(v.Resource), strings.ReplaceAll(v.Message, "\n", " ")})
	}
	table.Print(s.Out, []string{"Level", "Policy", "Resource", "Message"}, lines)
	if more := found.Mandatory + found.Advisory - len(found.Listed); more > 0 {
		s.Warningf("%d more are not listed", more)
	}
	return nil
}

// resourceText is a resource as in messages: its type, and its name.
func resourceText(urn string) string {
	parts := strings.SplitN(urn, "::", 4)
	if len(parts) < 4 {
		return "(the stack)"
	}
	return fmt.Sprintf("%s (%s)", parts[2][strings.LastIndex(parts[2], "$")+1:], parts[3])
}

// nameOfDirectory is the last part of its path, also of ".".
func nameOfDirectory(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil { // there is no working directory
		dir = abs
	}
	return filepath.Base(dir)
}
