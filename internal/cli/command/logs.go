// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/logs"
)

const logLevelsInHelp = "debug, info or error"

// logsFlags are the flags of flux logs.
type logsFlags struct {
	follow, allNamespaces            bool
	kind, name, level, fluxNamespace string
	sinceTime                        string
	since                            time.Duration
	tail                             int64
}

func newLogs(s *session) *cobra.Command {
	flags := &logsFlags{}
	cmd := &cobra.Command{
		Use:   "logs [stack]",
		Short: "Show the logs of Stacks and Programs",
		Long: `Shows the lines of the controller's log about Stacks and Programs, and the logs of runs that are Jobs: those of their
pods or, after the pods are gone, the end of the log of each Stack's last run, which the controller keeps. Logs that you are
not allowed to read are skipped.`,
		Example: `  # Show the log of a Stack, and follow it
  flux pulumi logs network -n apps -f

  # Show the errors of the last hour
  flux pulumi logs -A --level error --since 1h`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.completeName(cluster.Stack().GroupVersionKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if flags.kind != "" || flags.name != "" {
					return errors.New("give either the name of a Stack, or --kind and --name")
				}
				flags.kind, flags.name = cluster.Stack().Kind, args[0]
			}
			return s.logs(cmd, flags)
		},
	}
	set := cmd.Flags()
	set.BoolVarP(&flags.follow, "follow", "f", false, "print new lines until interrupted")
	set.BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "show lines about objects in all namespaces, and lines about no object")
	set.StringVar(&flags.kind, "kind", "", "only show lines about objects of this kind: Stack or Program")
	set.StringVar(&flags.name, "name", "", "only show lines about objects with this name")
	set.StringVar(&flags.level, "level", "", "only show lines of this level: "+logLevelsInHelp)
	set.StringVar(&flags.fluxNamespace, "flux-namespace", s.namespace(), "the namespace of the controller")
	set.Int64Var(&flags.tail, "tail", -1, "how many lines of each log to read, counted from its end; -1 reads all")
	set.DurationVar(&flags.since, "since", 0, "only show lines newer than this duration, such as 5m")
	set.StringVar(&flags.sinceTime, "since-time", "", "only show lines after this time (RFC3339)")
	completeValues(cmd, "kind", cluster.Stack().Kind, cluster.Program().Kind)
	completeValues(cmd, "level", "debug", "info", "error")
	cmd.MarkFlagsMutuallyExclusive("since", "since-time")
	return cmd
}

func (s *session) logs(cmd *cobra.Command, flags *logsFlags) error {
	options, err := flags.options()
	if err != nil {
		return err
	}
	ctx, cancel := s.limitedUnless(cmd, flags.follow)
	defer cancel()
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	view, err := newLogsView(s, api, options, flags.filter(s.namespace()))
	if err != nil {
		return err
	}
	return view.print(ctx, flags.fluxNamespace)
}

// filter selects the lines of a namespace, or of all.
func (f *logsFlags) filter(namespace string) logs.Filter {
	filter := logs.Filter{Name: f.name, Level: f.level}
	if f.kind != "" {
		filter.Kinds = []string{f.kind}
	}
	if !f.allNamespaces {
		filter.Namespace = namespace
	}
	return filter
}

func (f *logsFlags) options() (corev1.PodLogOptions, error) {
	options := corev1.PodLogOptions{Follow: f.follow}
	if f.kind != "" && !strings.EqualFold(f.kind, cluster.Stack().Kind) && !strings.EqualFold(f.kind, cluster.Program().Kind) {
		return options, fmt.Errorf("'%s' is not a recognized kind: Stack or Program is expected", f.kind)
	}
	if f.level != "" && !slices.Contains([]string{"trace", "debug", "info", "error"}, f.level) {
		return options, fmt.Errorf("log level '%s' is not one of %s", f.level, logLevelsInHelp)
	}
	if f.tail >= 0 {
		options.TailLines = &f.tail
	}
	if f.since > 0 {
		seconds := max(1, int64(f.since.Round(time.Second).Seconds()))
		options.SinceSeconds = &seconds
	}
	if f.sinceTime != "" {
		since, err := time.Parse(time.RFC3339, f.sinceTime)
		if err != nil {
			return options, fmt.Errorf("%s is not a valid (RFC3339) time", f.sinceTime)
		}
		options.SinceTime = &metav1.Time{Time: since}
	}
	return options, nil
}
