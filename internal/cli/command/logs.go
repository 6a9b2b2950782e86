// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/logs"
)

// Labels and names to find the controller by: all its Deployments, including those of
// shards, have the label, and a container of this name.
const (
	componentLabel  = "app.kubernetes.io/component"
	controllerName  = "pulumi-controller"
	controllerBox   = "manager"
	logLevelsInHelp = "debug, info or error"
)

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
		Short: "Show what the controller logs of Stacks and Programs",
		Example: `  # Show the log of a Stack, and go on with it
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
	set.BoolVarP(&flags.follow, "follow", "f", false, "go on with each new line, until interrupted")
	set.BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "show lines about all namespaces, and about none")
	set.StringVar(&flags.kind, "kind", "", "show lines about this kind only: Stack or Program")
	set.StringVar(&flags.name, "name", "", "show lines about objects of this name only")
	set.StringVar(&flags.level, "level", "", "show lines of this level only: "+logLevelsInHelp)
	set.StringVar(&flags.fluxNamespace, "flux-namespace", s.namespace(), "the namespace of the controller")
	set.Int64Var(&flags.tail, "tail", -1, "how many lines of the end of each log are looked at; -1 is all")
	set.DurationVar(&flags.since, "since", 0, "look at lines newer than this, such as 5m")
	set.StringVar(&flags.sinceTime, "since-time", "", "look at lines newer than this time (RFC3339)")
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
	filter := logs.Filter{Name: flags.name, Level: flags.level}
	if flags.kind != "" {
		filter.Kinds = []string{flags.kind}
	}
	if !flags.allNamespaces {
		filter.Namespace = s.namespace()
	}
	ctx, cancel := s.limitedUnless(cmd, flags.follow)
	defer cancel()
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	pods, err := controllerPods(ctx, api, flags.fluxNamespace)
	if err != nil {
		return err
	}
	return s.copyLogs(ctx, pods, options, filter)
}

func (f *logsFlags) options() (*corev1.PodLogOptions, error) {
	if f.kind != "" && !strings.EqualFold(f.kind, cluster.Stack().Kind) && !strings.EqualFold(f.kind, cluster.Program().Kind) {
		return nil, fmt.Errorf("'%s' is not a recognized kind: Stack or Program is expected", f.kind)
	}
	if f.level != "" && !slices.Contains([]string{"trace", "debug", "info", "error"}, f.level) {
		return nil, fmt.Errorf("log level '%s' is not one of %s", f.level, logLevelsInHelp)
	}
	options := &corev1.PodLogOptions{Follow: f.follow, Container: controllerBox}
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
			return nil, fmt.Errorf("%s is not a valid (RFC3339) time", f.sinceTime)
		}
		options.SinceTime = &metav1.Time{Time: since}
	}
	return options, nil
}

// controllerPods returns the pods of all Deployments of the controller: any replica may
// have been the leader, and each shard has its own Stacks.
func controllerPods(ctx context.Context, api client.Reader, namespace string) ([]corev1.Pod, error) {
	deployments := &appsv1.DeploymentList{}
	if err := api.List(ctx, deployments, client.InNamespace(namespace), client.MatchingLabels{componentLabel: controllerName}); err != nil {
		return nil, fmt.Errorf("listing the Deployments of the controller: %w", err)
	}
	var found []corev1.Pod
	for i := range deployments.Items {
		selector, err := metav1.LabelSelectorAsSelector(deployments.Items[i].Spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("reading the selector of Deployment %s: %w", deployments.Items[i].Name, err)
		}
		pods := &corev1.PodList{}
		if err := api.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return nil, fmt.Errorf("listing the pods of Deployment %s: %w", deployments.Items[i].Name, err)
		}
		found = append(found, pods.Items...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no pulumi-controller pods found in namespace %q", namespace)
	}
	return found, nil
}

// copyLogs prints the logs of the pods, concurrently when following.
func (s *session) copyLogs(ctx context.Context, pods []corev1.Pod, options *corev1.PodLogOptions, filter logs.Filter) error {
	config, err := cluster.Config(s.flags)
	if err != nil {
		return err
	}
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client of the cluster: %w", err)
	}
	out := &lockedWriter{out: s.Out}
	copyOne := func(pod *corev1.Pod) error {
		stream, err := set.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
		if err == nil {
			err = errors.Join(logs.Copy(out, stream, filter), stream.Close())
		}
		switch {
		case err == nil, errors.Is(ctx.Err(), context.Canceled), ctx.Err() != nil && options.Follow:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("timed out in the midst of the logs of pod %s: there is more, raise --timeout", pod.Name)
		}
		return fmt.Errorf("failed getting logs of pod %s: %w", pod.Name, err)
	}
	failures := make([]error, len(pods))
	if !options.Follow {
		for i := range pods {
			failures[i] = copyOne(&pods[i])
		}
		return errors.Join(failures...)
	}
	var group sync.WaitGroup
	for i := range pods {
		group.Go(func() { failures[i] = copyOne(&pods[i]) })
	}
	group.Wait()
	return errors.Join(failures...)
}

// lockedWriter keeps lines of concurrent logs from mixing.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lockedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(text)
}
