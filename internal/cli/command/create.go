// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ready"
)

// createFlags are the flags of all create commands.
type createFlags struct {
	export bool
	labels []string
}

func newCreate(s *session) *cobra.Command {
	flags := &createFlags{}
	create := newGroup("create", "Create or update a Stack or a Program", newCreateStack(s, flags), newCreateProgram(s, flags))
	create.PersistentFlags().BoolVar(&flags.export, "export", false, "print the manifest instead of applying it")
	create.PersistentFlags().StringSliceVar(&flags.labels, "label", nil, "labels of the object, such as tier=base,team=a")
	return create
}

// newObject returns an object of the kind with the given name and labels.
func (s *session) newObject(kind cluster.Kind, args []string, flags *createFlags) (*unstructured.Unstructured, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("name is required")
	}
	if len(args) > 1 {
		return nil, fmt.Errorf("expected one name, not %d", len(args))
	}
	if len(validation.IsDNS1123Subdomain(args[0])) > 0 {
		return nil, fmt.Errorf("name '%s' is invalid, it should adhere to standard defined in RFC 1123, the name can only contain alphanumeric characters or '-'", args[0])
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind.GroupVersionKind)
	object.SetName(args[0])
	object.SetNamespace(s.namespace())
	labels, err := readLabels(flags.labels)
	if err != nil {
		return nil, err
	}
	if len(labels) > 0 {
		object.SetLabels(labels)
	}
	return object, nil
}

// readLabels rejects invalid labels with Flux's message, before they reach a manifest.
func readLabels(values []string) (map[string]string, error) {
	labels, err := pairs("label", values)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if faults := validation.IsQualifiedName(name); len(faults) > 0 {
			return nil, fmt.Errorf("invalid label '%s': %s", name, strings.Join(faults, ", "))
		}
		if faults := validation.IsValidLabelValue(labels[name]); len(faults) > 0 {
			return nil, fmt.Errorf("invalid label value '%s': %s", labels[name], strings.Join(faults, ", "))
		}
	}
	return labels, nil
}

// pairs reads key=value.
func pairs(flag string, values []string) (map[string]string, error) {
	return pairsOr(flag, values, func(value string) error {
		return fmt.Errorf("invalid --%s '%s', must be key=value", flag, value)
	})
}

// pairsOr parses key=value pairs, and rejects a repeated key, as nobody can know which
// value is meant. invalid returns the error for a malformed value.
func pairsOr(flag string, values []string, invalid func(value string) error) (map[string]string, error) {
	read := map[string]string{}
	for _, value := range values {
		name, text, found := strings.Cut(value, "=")
		if !found || name == "" {
			return nil, invalid(value)
		}
		if _, twice := read[name]; twice {
			return nil, fmt.Errorf("--%s gives %s more than once", flag, name)
		}
		read[name] = text
	}
	return read, nil
}

// create prints the object, or creates or updates it in the cluster and waits until it is
// ready. part is the field that the user writes.
func (s *session) create(ctx context.Context, object *unstructured.Unstructured, part string, export bool) error {
	if export {
		return printManifest(s.Out, exported(object))
	}
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	kind := object.GetKind()
	s.Generatef("generating %s", kind)
	s.Actionf("applying %s", kind)
	of := target{object.GroupVersionKind(), client.ObjectKeyFromObject(object)}
	done, err := upsert(ctx, api, of, object, part)
	if err != nil {
		return err
	}
	if done != "" {
		s.Successf("%s %s", kind, done)
	}
	s.Waitingf("waiting for %s reconciliation", kind)
	current, err := s.await(ctx, api, of, ready.AtGeneration)
	if err != nil {
		return fmt.Errorf("%s reconciliation failed: %w", kind, err)
	}
	s.Successf("%s reconciliation completed", kind)
	s.Successf("%s", successMessage(current))
	return nil
}

// upsert reports whether it created, updated or left the object alone. It reads the
// object again on a conflict, for instance with the controller when a run begins.
func upsert(ctx context.Context, api client.Client, of target, object *unstructured.Unstructured, part string) (done string, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		done, err = tryUpsert(ctx, api, of, object, part)
		return err
	})
	return done, err
}

func tryUpsert(ctx context.Context, api client.Client, of target, object *unstructured.Unstructured, part string) (string, error) {
	current, err := of.get(ctx, api)
	if apierrors.IsNotFound(err) {
		if err := api.Create(ctx, object, fieldOwner); err != nil {
			return "", cluster.Explain(fmt.Errorf("creating %s %s: %w", of.Kind, of.Name, err))
		}
		return "created", nil
	}
	if err != nil {
		return "", err
	}
	if current.GetDeletionTimestamp() != nil {
		// Without spec.destroyOnFinalize it would be deleted and leave its resources
		// behind.
		return "", fmt.Errorf("%s %s is being deleted and was not changed: create it again when it is gone", of.Kind, of.Name)
	}
	version := current.GetResourceVersion()
	current.Object[part] = object.Object[part]
	labels := current.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, object.GetLabels())
	current.SetLabels(labels)
	if err := api.Update(ctx, current, fieldOwner); err != nil {
		return "", fmt.Errorf("updating %s %s: %w", of.Kind, of.Name, err)
	}
	if current.GetResourceVersion() == version {
		return "", nil
	}
	return "updated", nil
}
