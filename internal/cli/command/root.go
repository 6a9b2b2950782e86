// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/console"
)

const (
	// defaultNamespace and defaultTimeout are the defaults of the flux command.
	defaultNamespace = "flux-system"
	defaultTimeout   = 5 * time.Minute
	// exitFailed is the exit code of a failed command.
	exitFailed = 1
)

// exitError sets an exit code of its own. Code 1 is not a failure but a finding, such as
// a preview with changes.
type exitError struct {
	Code int
	Err  error
}

func (e *exitError) Error() string { return e.Err.Error() }

func (e *exitError) Unwrap() error { return e.Err }

// Run runs the command that args name and returns the exit code. It does not report
// failures caused by the end of interruptible: whoever interrupted the command knows.
func Run(interruptible context.Context, env Environment, args []string) int {
	ctx, stop := context.WithCancel(interruptible)
	defer stop()
	out, errs := &watchedWriter{Writer: env.Out, stop: stop}, &watchedWriter{Writer: env.Err, stop: stop}
	env.Out, env.Err = out, errs
	if env.Getenv("TERM") == "dumb" { // it would print escape sequences as they are
		env.OutIsTerminal, env.ErrIsTerminal = false, false
	}
	s := &session{Environment: env, Console: console.New(env.Err, env.ErrIsTerminal, env.Width)}
	s.paint = console.Paint(env.OutIsTerminal && env.Getenv("NO_COLOR") == "")
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	s.Done()
	var exit *exitError
	switch {
	case isUnread(out.err), isUnread(errs.err):
		return exitUnread // there is nobody to tell
	case out.err != nil:
		s.Failuref("cannot write the output of the command: %v", out.err)
		return failureCode(cmd)
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.Code == exitFailed {
			s.Warningf("%v", exit)
		} else {
			s.Failuref("%v", exit)
		}
		return exit.Code
	case interruptible.Err() != nil:
		return failureCode(cmd)
	default:
		s.Failuref("%v", err)
		return failureCode(cmd)
	}
}

// failureCode returns the exit code of a command that failed or was called wrongly.
func failureCode(cmd *cobra.Command) int {
	for ; cmd != nil; cmd = cmd.Parent() {
		switch cmd.Name() {
		case previewName, diffName, driftName, policyName:
			return exitPreviewFailed
		}
	}
	return exitFailed
}

func newRoot(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:           "flux-pulumi",
		Short:         "Inspect and control the Stacks of pulumi-controller",
		Long:          "flux-pulumi inspects and controls the Stacks and Programs of pulumi-controller. Flux runs it as `flux pulumi`.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "flux pulumi"},
		Version:       s.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE:          groupOnly,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return s.settleNamespace(cmd)
		},
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	s.addFlags(root)
	root.AddCommand(
		newApprove(s),
		newCancel(s),
		newCheck(s),
		newCreate(s),
		newDebug(s),
		newDiff(s),
		newDrift(s),
		newEvents(s),
		newExport(s),
		newGet(s),
		newHistory(s),
		newInstall(s),
		newLogs(s),
		newOutputs(s),
		newPolicy(s),
		newPreview(s),
		newReconcile(s),
		newReject(s),
		newResume(s),
		newSuspend(s),
		newTrace(s),
		newTree(s),
		newUI(s),
		newVersion(s),
	)
	// Like flux, do not show a group of commands as runnable.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
	root.InitDefaultCompletionCmd()
	for _, sub := range root.Commands() {
		if sub.Name() == "completion" { // cobra's own
			sub.Args, sub.RunE = cobra.ArbitraryArgs, groupOnly
		}
	}
	return root
}

func (s *session) addFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.DurationVar(&s.timeout, "timeout", defaultTimeout, "the timeout of the command")
	flags.BoolVar(&s.follow, "ns-follows-kube-context", false,
		"default to the namespace of the kubeconfig context instead of flux-system, like FLUX_NS_FOLLOWS_KUBE_CONTEXT")

	s.flags = genericclioptions.NewConfigFlags(false)
	namespace := defaultNamespace
	if other := s.Getenv("FLUX_SYSTEM_NAMESPACE"); len(validation.IsDNS1123Label(other)) == 0 {
		namespace = other
	}
	s.flags.Namespace = &namespace
	// --timeout is for the whole command.
	s.flags.Timeout = nil
	s.flags.CacheDir = nil // nothing is cached
	// Like flux, no -s.
	server := ""
	s.flags.APIServer = nil
	s.flags.AddFlags(flags)
	s.flags.APIServer = &server
	flags.StringVar(s.flags.APIServer, "server", "", "the address and port of the Kubernetes API server")

	// This fails only for a flag that does not exist.
	_ = root.RegisterFlagCompletionFunc("namespace", s.completeNames(corev1.SchemeGroupVersion.WithKind("Namespace")))
	_ = root.RegisterFlagCompletionFunc("context", s.completeContexts)
}

// settleNamespace uses the namespace of the kubeconfig context if asked to.
func (s *session) settleNamespace(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("namespace") && (s.follow || s.Getenv("FLUX_NS_FOLLOWS_KUBE_CONTEXT") != "") {
		// Read the kubeconfig directly: to s.flags, the namespace counts as overridden.
		if namespace := s.contextNamespace(); namespace != "" {
			*s.flags.Namespace = namespace
		}
	}
	if faults := validation.IsDNS1123Label(s.namespace()); len(faults) > 0 {
		return fmt.Errorf("namespace must be a valid DNS label: %q", s.namespace())
	}
	return nil
}

func (s *session) contextNamespace() string {
	config, err := s.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return "" // the first request reports what is wrong with it
	}
	current := config.CurrentContext
	if *s.flags.Context != "" {
		current = *s.flags.Context
	}
	if named, ok := config.Contexts[current]; ok {
		return named.Namespace
	}
	return ""
}

// newGroup returns a command that only has subcommands.
func newGroup(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: groupOnly}
	group.AddCommand(commands...)
	return group
}

// groupOnly shows the help, and fails for an unknown subcommand: cobra alone would show
// the help for that too, and succeed.
func groupOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	message := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		message += fmt.Sprintf(": did you mean %s?", strings.Join(near, " or "))
	}
	return errors.New(message)
}
