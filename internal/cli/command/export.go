// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

func newExport(s *session) *cobra.Command {
	var every bool
	all := &cobra.Command{
		Use: "all", Short: "Export all Stacks and Programs of the namespace as YAML", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.export(cmd, nil, cluster.Program(), cluster.Stack())
		},
	}
	export := newGroup("export", "Export Stacks and Programs as YAML that you can apply", all)
	for _, kind := range []cluster.Kind{cluster.Stack(), cluster.Program()} {
		export.AddCommand(&cobra.Command{
			Example: fmt.Sprintf("  # Export all %ss of a namespace\n  flux pulumi export %s --all -n apps > %s.yaml", kind.Kind, kind.Singular, kind.Plural),
			Use:     kind.Singular + " [name]", Aliases: []string{kind.Plural},
			Short:             fmt.Sprintf("Export a %s, or all with --all, as YAML", kind.Kind),
			Args:              cobra.MaximumNArgs(1),
			ValidArgsFunction: s.completeName(kind.GroupVersionKind),
			RunE: func(cmd *cobra.Command, args []string) error {
				switch {
				case len(args) == 0 && !every:
					return errors.New("name is required")
				case len(args) > 0 && every:
					return errors.New("either a name or --all is required")
				}
				return s.export(cmd, args, kind)
			},
		})
	}
	export.PersistentFlags().BoolVar(&every, "all", false, "select all in the namespace")
	return export
}

func (s *session) export(cmd *cobra.Command, names []string, kinds ...cluster.Kind) error {
	ctx, cancel := s.limited(cmd)
	defer cancel()
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	options := []client.ListOption{client.InNamespace(s.namespace())}
	if len(names) > 0 {
		options = append(options, client.MatchingFields{"metadata.name": names[0]})
	}
	found := 0
	for _, kind := range kinds {
		objects, err := kind.ListRaw(ctx, api, options...)
		if err != nil {
			return err
		}
		for i := range objects {
			if err := printManifest(s.Out, exported(&objects[i])); err != nil {
				return err
			}
			found++
		}
	}
	switch {
	case found == 0 && len(names) > 0:
		return s.noObjects(kinds[0], names, false)
	case found == 0:
		return fmt.Errorf("no objects found in %s namespace", s.namespace())
	}
	return nil
}

// notExported returns the annotations to leave out of a manifest: a one-time request in
// it would be repeated whenever the manifest is applied.
func notExported() []string {
	return []string{
		corev1.LastAppliedConfigAnnotation, meta.ReconcileRequestAnnotation, meta.ForceRequestAnnotation,
		v1.ReconcileRequestAnnotation, v1.ReleaseRunAnnotation, v1.CancelRunAnnotation, v1.CancelRunNowAnnotation,
		v1.PreviewRequestAnnotation, v1.PreviewProgramAnnotation,
	}
}

// exported returns the part of an object that can be applied again: what the user wrote,
// without what the API server and controllers added.
func exported(object *unstructured.Unstructured) map[string]any {
	annotations := object.GetAnnotations()
	for _, made := range notExported() {
		delete(annotations, made)
	}
	metadata := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	if labels := object.GetLabels(); len(labels) > 0 {
		metadata["labels"] = labels
	}
	manifest := map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": metadata}
	for _, part := range []string{"spec", "program"} {
		if value, found := object.Object[part]; found {
			manifest[part] = value
		}
	}
	return manifest
}

// printManifest prints a YAML document.
func printManifest(out io.Writer, manifest map[string]any) error {
	text, err := toYAML(manifest)
	if err != nil {
		return fmt.Errorf("writing a manifest: %w", err)
	}
	_, err = fmt.Fprintf(out, "---\n%s", text)
	return err
}
