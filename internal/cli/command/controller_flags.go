// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// controllerFlags are the flags of the controller that its decisions depend on, for the commands that explain these.
type controllerFlags struct {
	options observe.Options
	runner  string
}

func (f *controllerFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.options.DefaultServiceAccount, "default-service-account", "", "the value of this flag of the controller")
	flags.BoolVar(&f.options.NoCrossNamespaceRefs, "no-cross-namespace-refs", true, "the value of this flag of the controller")
	flags.BoolVar(&f.options.WorkloadIdentity, "workload-identity", false, "whether the controller has the feature gate ObjectLevelWorkloadIdentity")
	flags.StringVar(&f.runner, "runner", runnerLocal, "the value of this flag of the controller: local or job")
	completeValues(cmd, "runner", runners()...)
}

func (f *controllerFlags) forController() observe.Options {
	options := f.options
	options.Jobs = f.runner == runnerJob
	return options
}

// otherFlags says with which flags a Stack would be explained otherwise, if it has what depends on one of them and the
// command was given another value.
func otherFlags(stack *v1.Stack, given observe.Options) []string {
	var found, flags []string
	if given.NoCrossNamespaceRefs && refersElsewhere(stack) {
		found, flags = append(found, "refers to another namespace"), append(flags, "--no-cross-namespace-refs=false")
	}
	isJob := stack.Status.Run != nil && stack.Status.Run.Job != ""
	if !given.Jobs && (isJob || stack.Spec.WorkspaceTemplate != nil) {
		what := "has a spec.workspaceTemplate"
		if isJob {
			what = "runs as a Job"
		}
		found, flags = append(found, what), append(flags, "--runner=job")
	}
	if len(found) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the Stack %s: if the controller runs with %s, start flux pulumi ui with the same, as otherwise what happens next is wrong here",
		strings.Join(found, " and "), strings.Join(flags, " and "))}
}

// refersElsewhere reports whether the source of a Stack, or a Stack that it depends on, is in another namespace.
func refersElsewhere(stack *v1.Stack) bool {
	if of := stack.Spec.FluxSource; of != nil && of.SourceRef.Namespace != "" && of.SourceRef.Namespace != stack.Namespace {
		return true
	}
	return len(dependency.Edges(stack, true)) < len(dependency.Edges(stack, false))
}
