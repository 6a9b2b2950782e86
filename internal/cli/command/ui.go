// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/assets"
)

// maxPort is the highest port of TCP.
const maxPort = 65535

// maxNamespaces bounds how many namespaces are watched one by one.
const maxNamespaces = 50

// uiOptions are the flags of the command ui.
type uiOptions struct {
	port          int
	noOpen        bool
	fluxNamespace string
	namespaces    []string
	controller    controllerFlags
}

func newUI(s *session) *cobra.Command {
	options := uiOptions{}
	cmd := &cobra.Command{
		Use: "ui", Short: "Show the Stacks as a page in your browser", Args: cobra.NoArgs,
		Long: `Serves a page for your browser on this machine and opens it: the Stacks and what they depend on, runs as they happen, plans
with the button that approves them, resources, history, drift, events and logs. It runs until Ctrl-C, and does what you do
on the page with the permissions of your kubeconfig. If you may not list the Stacks of all namespaces, it shows those of
--namespace, or of --namespaces. The address is valid once, for one browser. The page shows no secrets. If the controller has
flags of the same name as those of this command, set them here too: what happens next depends on them.`,
		Example: `  # Open the page
  flux pulumi ui

  # Show the Stacks of the namespaces that you may read
  flux pulumi ui --namespaces shop,shop-data

  # Print its address only, at a port that is forwarded
  flux pulumi ui --port 8800 --no-open

  # The controller runs with --runner=job
  flux pulumi ui --runner=job`,
		PreRunE: func(*cobra.Command, []string) error { return checkRunner(options.controller.runner) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case options.port < 0 || options.port > maxPort:
				return fmt.Errorf("--port must be between 0 and %d", maxPort)
			case len(options.namespaces) > maxNamespaces:
				return fmt.Errorf("--namespaces must not name more than %d", maxNamespaces)
			}
			for _, namespace := range options.namespaces {
				if len(validation.IsDNS1123Label(namespace)) > 0 {
					return fmt.Errorf("--namespaces: %q is not the name of a namespace", namespace)
				}
			}
			return s.ui(cmd.Context(), options)
		},
	}
	cmd.Flags().IntVar(&options.port, "port", 0, "the port to listen on, 0 for a free one")
	cmd.Flags().StringVar(&options.fluxNamespace, "flux-namespace", s.namespace(), "the namespace of the controller, whose log has the steps of runs")
	cmd.Flags().StringSliceVar(&options.namespaces, "namespaces", nil, "show only the Stacks of these namespaces")
	cmd.Flags().BoolVar(&options.noOpen, "no-open", false, "do not open the browser")
	options.controller.addTo(cmd)
	return cmd
}

// ui serves the page until ctx ends.
func (s *session) ui(ctx context.Context, options uiOptions) error {
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	files, err := assets.Files()
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	namespaces, limited := slices.Compact(slices.Sorted(slices.Values(options.namespaces))), false
	if len(namespaces) == 0 {
		namespace, err := s.shownNamespace(ctx, api)
		if err != nil {
			return err
		}
		namespaces, limited = []string{namespace}, namespace != ""
	}
	commands := &pageCommands{session: s, api: api, fluxNamespace: options.fluxNamespace, options: options.controller.forController()}
	server, err := ui.Listen(ctx, ui.Options{API: api, Commands: commands, Files: files, Port: options.port})
	if err != nil {
		return err
	}
	if limited {
		s.Warningf("you are not allowed to watch the Stacks of all namespaces: the page shows those of %s. Name others with --namespaces", namespaces[0])
	}
	s.Actionf("open this address, which is valid once:")
	if _, err := fmt.Fprintln(s.Out, server.URL()); err != nil {
		return err
	}
	if !options.noOpen && s.Browse != nil {
		remove, err := s.openPage(ctx, server.URL())
		if err != nil {
			s.Warningf("cannot open the browser: %v", err)
		}
		defer remove()
	}
	s.Waitingf("serving the page until Ctrl-C")
	return server.Run(ctx, namespaces...)
}

// shownNamespace returns the namespace whose Stacks are shown, "" for all.
func (s *session) shownNamespace(ctx context.Context, api client.Client) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for _, verb := range []string{"list", "watch"} {
		may, err := isAllowed(ctx, api, authorizationv1.ResourceAttributes{Group: v1.GroupVersion.Group, Resource: cluster.Stack().Plural, Verb: verb})
		if err != nil {
			return "", err
		}
		if !may {
			return s.namespace(), nil
		}
	}
	return "", nil
}

// isAllowed asks the API server whether the user of the kubeconfig is allowed to do something.
func isAllowed(ctx context.Context, api client.Client, what authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
	if err := api.Create(ctx, review); err != nil {
		return false, fmt.Errorf("asking the API server what you are allowed to do: %w", err)
	}
	return review.Status.Allowed, nil
}

// openPage opens the address in the browser. The address goes to it in a file that only this user can read: anyone on the
// machine can read the arguments of a process. The returned function removes the file.
func (s *session) openPage(ctx context.Context, address string) (remove func(), err error) {
	remove = func() {}
	directory, err := os.MkdirTemp("", "flux-pulumi-ui-")
	if err != nil {
		return remove, fmt.Errorf("writing a file for the browser: %w", err)
	}
	remove = func() { _ = os.RemoveAll(directory) } // in a directory of temporary files
	file := filepath.Join(directory, "open.html")
	page := fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=%[1]s"><title>flux pulumi</title><p><a href="%[1]s">Open the page</a></p></html>`, address)
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		return remove, fmt.Errorf("writing a file for the browser: %w", err)
	}
	if err := s.Browse(ctx, file); err != nil {
		return remove, err
	}
	return remove, nil
}
