// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// migrationFlags are the flags of check --migration.
type migrationFlags struct {
	on             bool
	output, runner string
	options        observe.Options
}

func (f *migrationFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.on, "migration", false, "say what happens to the Stacks of the Pulumi operator when this controller takes them over")
	flags.StringVar(&f.options.DefaultServiceAccount, "default-service-account", "", "with --migration: the value that this flag of the controller will have")
	flags.BoolVar(&f.options.NoCrossNamespaceRefs, "no-cross-namespace-refs", true, "with --migration: the value that this flag of the controller will have")
	flags.StringVar(&f.runner, "runner", runnerLocal, "with --migration: the value that this flag of the controller will have: local or job")
	addOutputFlag(cmd, flags, &f.output, "with --migration: print the result as json or yaml")
	completeValues(cmd, "runner", runners()...)
	known := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if !f.on {
			for _, name := range []string{"default-service-account", "no-cross-namespace-refs", "runner", "output"} {
				if cmd.Flags().Changed(name) {
					return errors.New("--" + name + " needs --migration")
				}
			}
		}
		if err := known(cmd, args); err != nil {
			return err
		}
		return checkRunner(f.runner)
	}
}

// forController returns the flags of the controller that make a difference.
func (f *migrationFlags) forController() observe.Options {
	options := f.options
	options.Jobs = f.runner == runnerJob
	return options
}
