// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// wideOutput is the format of a table with more columns.
const wideOutput = "wide"

// getFlags are the flags of all get commands.
type getFlags struct {
	allNamespaces, noHeader, watch, showSource bool
	statusSelector, labelSelector, output      string
}

// printsObjects reports whether the objects are printed, and not a table of them.
func (f *getFlags) printsObjects() bool { return f.output != "" && f.output != wideOutput }

// columnsOf returns the columns of the table of a kind.
func (f *getFlags) columnsOf(kind cluster.Kind) rows.Options {
	return rows.Options{Namespace: f.allNamespaces && !kind.OfCluster, Source: f.showSource, Wide: f.output == wideOutput}
}

func newGet(s *session) *cobra.Command {
	flags := &getFlags{}
	stacks, programs := newGetKind(s, flags, cluster.Stack()), newGetKind(s, flags, cluster.Program())
	policySets := newGetKind(s, flags, cluster.PolicySet())
	policySets.Long = "Get PolicySets and their status: how many Stacks they select, and how many of those violate mandatory policies or have no\nresult for the current packs. -o yaml names those that violate them."
	stacks.Example = `  # List the Stacks of a namespace
  flux pulumi get stacks -n apps

  # List the Stacks of the cluster that are not ready
  flux pulumi get stacks -A --status-selector ready!=true`
	stacks.Flags().BoolVar(&flags.showSource, "show-source", false, "also show the source of each Stack")
	all := &cobra.Command{
		Use: "all", Short: "Get all Stacks and Programs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.getAll(cmd, flags) },
	}
	get := newGroup("get", "Get Stacks, Programs and PolicySets and their status", stacks, programs, policySets, all)
	set := get.PersistentFlags()
	set.BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "list the objects in all namespaces")
	set.BoolVar(&flags.noHeader, "no-header", false, "omit the header of the table")
	set.BoolVarP(&flags.watch, "watch", "w", false, "print changes until interrupted")
	set.StringVar(&flags.statusSelector, "status-selector", "", "only list objects with this condition, such as ready=false or ready!=true")
	set.StringVarP(&flags.labelSelector, "label-selector", "l", "", "only list objects with these labels")
	addOutputFlag(get, set, &flags.output, "print the objects as json or yaml instead of a table, or wide for a table that also shows drift and compliance", wideOutput)
	return get
}

func newGetKind(s *session, flags *getFlags, kind cluster.Kind) *cobra.Command {
	return &cobra.Command{
		Use: kind.Plural + " [name]", Aliases: []string{kind.Singular},
		Short:             fmt.Sprintf("Get %ss and their status", kind.Kind),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.completeName(kind.GroupVersionKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.get(cmd, flags, kind, args)
		},
	}
}

func (s *session) get(cmd *cobra.Command, flags *getFlags, kind cluster.Kind, args []string) error {
	if flags.output != "" {
		if err := checkOutput(flags.output, "json", "yaml", wideOutput); err != nil {
			return err
		}
	}
	selector, err := parseStatusSelector(flags.statusSelector)
	if err != nil {
		return err
	}
	options, err := s.listOptions(flags, args)
	if err != nil {
		return err
	}
	ctx, cancel := s.limitedUnless(cmd, flags.watch)
	defer cancel()
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	if flags.watch {
		return s.getWatching(ctx, api, flags, kind, selector, options)
	}
	if flags.printsObjects() {
		return s.getRaw(ctx, api, flags, kind, selector, args, options)
	}
	objects, err := kind.List(ctx, api, options...)
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return s.noObjects(kind, args, flags.allNamespaces)
	}
	s.printTable(flags, selector, objects, flags.columnsOf(kind))
	return nil
}

func (s *session) getAll(cmd *cobra.Command, flags *getFlags) error {
	if flags.watch || flags.printsObjects() {
		return errors.New("expected a single resource type, but found all")
	}
	selector, err := parseStatusSelector(flags.statusSelector)
	if err != nil {
		return err
	}
	options, err := s.listOptions(flags, nil)
	if err != nil {
		return err
	}
	ctx, cancel := s.limited(cmd)
	defer cancel()
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	for _, kind := range []cluster.Kind{cluster.Stack(), cluster.Program()} {
		objects, err := kind.List(ctx, api, options...)
		if err != nil {
			return err
		}
		if objects = selector.filter(objects); len(objects) == 0 {
			continue
		}
		columns := flags.columnsOf(kind)
		columns.Kind = true
		s.printTable(flags, selector, objects, columns)
		_, _ = fmt.Fprintln(s.Out)
	}
	return nil
}

// getWatching prints a row for each object, and then for each change.
func (s *session) getWatching(ctx context.Context, api client.WithWatch, flags *getFlags, kind cluster.Kind, selector statusSelector, options []client.ListOption) error {
	if flags.printsObjects() {
		return fmt.Errorf("--watch prints a table and cannot be used with --output %s", flags.output)
	}
	first := true
	return cluster.Follow(ctx, api, kind.NewList(), s.follower(func(event watch.EventType, object client.Object) error {
		if event == watch.Deleted || len(selector.filter([]client.Object{object})) == 0 {
			return nil
		}
		columns := flags.columnsOf(kind)
		table.Print(s.Out, s.header(flags, first, object, columns), [][]string{rows.Of(object, columns, s.Now())})
		first = false
		return nil
	}), options...)
}

// follower returns a Follower that also warns when the watch is lost.
func (s *session) follower(tell func(watch.EventType, client.Object) error) cluster.Follower {
	return cluster.Follower{Tell: tell, Pause: s.PollInterval, Lost: func(err error) {
		s.Warningf("the watch was interrupted, retrying: %v", err)
	}}
}

func (s *session) printTable(flags *getFlags, selector statusSelector, objects []client.Object, options rows.Options) {
	var lines [][]string
	for _, object := range selector.filter(objects) {
		lines = append(lines, rows.Of(object, options, s.Now()))
	}
	table.Print(s.Out, s.header(flags, true, objects[0], options), lines)
}

func (s *session) header(flags *getFlags, first bool, object client.Object, options rows.Options) []string {
	if flags.noHeader || !first {
		return nil
	}
	return rows.Header(object, options)
}

// listOptions returns the list options for the flags and the name on the command line.
func (s *session) listOptions(flags *getFlags, args []string) ([]client.ListOption, error) {
	var options []client.ListOption
	if !flags.allNamespaces {
		options = append(options, client.InNamespace(s.namespace()))
	}
	if len(args) > 0 {
		options = append(options, client.MatchingFields{"metadata.name": args[0]})
	}
	if flags.labelSelector != "" {
		selector, err := labels.Parse(flags.labelSelector)
		if err != nil {
			return nil, fmt.Errorf("unable to parse label selector: %w", err)
		}
		options = append(options, client.MatchingLabelsSelector{Selector: selector})
	}
	return options, nil
}

// noObjects returns Flux's error for an empty list.
func (s *session) noObjects(kind cluster.Kind, args []string, allNamespaces bool) error {
	switch {
	case kind.OfCluster && len(args) > 0:
		return fmt.Errorf("%s object '%s' not found", kind.Kind, args[0])
	case kind.OfCluster:
		return fmt.Errorf("no %s objects found", kind.Kind)
	}
	where := fmt.Sprintf("%q", s.namespace())
	if allNamespaces {
		where = "any"
	}
	if len(args) > 0 {
		return fmt.Errorf("%s object '%s' not found in %s namespace", kind.Kind, args[0], where)
	}
	return fmt.Errorf("no %s objects found in %s namespace", kind.Kind, where)
}

// statusSelector selects objects by a condition. The zero value selects all.
type statusSelector struct {
	conditionType, status string
	not                   bool
}

func parseStatusSelector(text string) (statusSelector, error) {
	if text == "" {
		return statusSelector{}, nil
	}
	conditionType, status, found := strings.Cut(text, "=")
	if !found || conditionType == "" || conditionType == "!" || status == "" {
		return statusSelector{}, fmt.Errorf("expected status selector in type=status or type!=status format, but found: %s", text)
	}
	positive := strings.TrimSuffix(conditionType, "!")
	return statusSelector{conditionType: positive, status: status, not: positive != conditionType}, nil
}

func (s statusSelector) selects(conditions []metav1.Condition) bool {
	return s == (statusSelector{}) || rows.Matches(conditions, s.conditionType, s.status) != s.not
}

func (s statusSelector) filter(objects []client.Object) []client.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(object client.Object) bool {
		with, ok := object.(meta.ObjectWithConditions)
		return !ok || !s.selects(with.GetConditions())
	})
}
