// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// completionTimeout bounds the wait of a shell for names: nobody waits longer after
// pressing a key.
const completionTimeout = 5 * time.Second

// completeNames completes names of objects of a kind that are not yet on the command
// line.
func (s *session) completeNames(kind schema.GroupVersionKind) cobra.CompletionFunc {
	return s.completeMoreNames(kind, math.MaxInt)
}

// completeName completes one name.
func (s *session) completeName(kind schema.GroupVersionKind) cobra.CompletionFunc {
	return s.completeMoreNames(kind, 1)
}

// completeFlagNames completes the value of a flag.
func (s *session) completeFlagNames(kind schema.GroupVersionKind) cobra.CompletionFunc {
	complete := s.completeNames(kind)
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return complete(cmd, nil, prefix)
	}
}

// completeValues completes a flag with a fixed set of values.
func completeValues(cmd *cobra.Command, flag string, values ...string) {
	// This fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeObjects completes <kind>/<name>, first the kind and then the name.
func (s *session) completeObjects(kinds ...cluster.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var completed []string
		for _, kind := range kinds {
			_, name, found := strings.Cut(prefix, kind.Kind+"/")
			if !found {
				completed = append(completed, kind.Kind+"/")
				continue
			}
			names, directive := s.completeNames(kind.GroupVersionKind)(cmd, nil, name)
			for i := range names {
				names[i] = kind.Kind + "/" + names[i]
			}
			return names, directive
		}
		return completed, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func (s *session) completeMoreNames(kind schema.GroupVersionKind, most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		// Cobra runs no pre-run hooks for completions.
		if err := s.settleNamespace(cmd); err != nil {
			return failCompletion(err)
		}
		s.timeout = min(s.timeout, completionTimeout)
		ctx, cancel := s.limited(cmd)
		defer cancel()
		api, err := s.connect(ctx)
		if err != nil {
			return failCompletion(err)
		}
		names, err := cluster.Names(ctx, api, kind, s.namespaceOf(kind), prefix)
		if err != nil {
			return failCompletion(err)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) })
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func (s *session) namespaceOf(kind schema.GroupVersionKind) string {
	if kind.Group == "" && kind.Kind == "Namespace" {
		return ""
	}
	return s.namespace()
}

func (s *session) completeContexts(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	config, err := s.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return failCompletion(err)
	}
	var names []string
	for name := range config.Contexts {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}

func failCompletion(err error) ([]string, cobra.ShellCompDirective) {
	cobra.CompError(err.Error())
	return nil, cobra.ShellCompDirectiveError
}
