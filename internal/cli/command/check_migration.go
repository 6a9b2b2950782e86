// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/migration"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	programs "github.com/flux-pulumi/pulumi-controller/internal/program"
)

// operatorGroup is that of the objects of the operator v2 for its pods and their runs.
const operatorGroup = "auto.pulumi.com"

// migrationCheck reads what a migration from the Pulumi operator is about. Its client can write
// nothing.
type migrationCheck struct {
	api client.Reader
	// in selects the namespaces.
	in      []client.ListOption
	options observe.Options
	report  migration.Report
}

// checkMigration says what becomes of each Stack of the Pulumi operator.
func (s *session) checkMigration(ctx context.Context, namespace string, options observe.Options, output string) error {
	api, err := cluster.ConnectToRead(ctx, s.flags)
	if err != nil {
		return err
	}
	check := &migrationCheck{api: api, options: options, report: migration.Report{Stacks: []migration.Stack{}}}
	if namespace != "" {
		check.in = []client.ListOption{client.InNamespace(namespace)}
	}
	info, err := cluster.Version(ctx, s.flags)
	if err != nil {
		return fmt.Errorf("calling the Kubernetes API: %w", err)
	}
	if found, err := version.ParseSemantic(info.GitVersion); err == nil && !isSupported(found) {
		check.lacks(fmt.Sprintf("Kubernetes version %s does not match >=%s: upgrade the cluster", info.GitVersion, minKubernetes))
	}
	if err := check.read(ctx, s); err != nil {
		return err
	}
	if output != "" {
		err = printValue(s.Out, output, check.report)
	} else {
		err = s.printMigration(&check.report)
	}
	if err == nil && !check.report.Ready() {
		err = errors.New("check failed: the migration needs what is listed first")
	}
	return err
}

func (c *migrationCheck) lacks(what string) {
	c.report.Prerequisites = append(c.report.Prerequisites, what)
}

// read reads all kinds. It returns an error only if the Stacks cannot be listed, or time is up.
func (c *migrationCheck) read(ctx context.Context, s *session) error {
	updating := c.readLeft(ctx)
	stacks, err := c.list(ctx, v1.GroupVersion.WithKind(v1.StackKind))
	switch {
	case meta.IsNoMatchError(err):
		return fmt.Errorf("this cluster has no kind Stack of %s: there is nothing to migrate", v1.GroupVersion)
	case apierrors.IsForbidden(err) && len(c.in) == 0:
		return fmt.Errorf("%w: name a namespace with --namespace", err)
	case err != nil:
		return err
	}
	for i := range stacks {
		stack, err := c.foresee(ctx, &stacks[i], updating, s)
		if err != nil {
			return err
		}
		c.report.Stacks = append(c.report.Stacks, *stack)
	}
	c.readPrograms(ctx)
	c.readOperators(ctx)
	return ctx.Err()
}

// foresee says what becomes of one Stack.
func (c *migrationCheck) foresee(ctx context.Context, object *unstructured.Unstructured, updating map[client.ObjectKey]bool, s *session) (*migration.Stack, error) {
	stack := &v1.Stack{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, stack); err != nil {
		return &migration.Stack{Namespace: object.GetNamespace(), Name: object.GetName(), Outcome: migration.Unreadable,
			Why: fmt.Sprintf("it cannot be read: %v", err)}, nil
	}
	foreseen, err := observe.Foresee(ctx, c.api, stack, c.options, s.Now)
	if err != nil {
		return nil, err
	}
	fields, _, _ := unstructured.NestedMap(object.Object, "spec")
	found := migration.OfStack(stack, foreseen, migration.Facts{
		SpecFields: slices.Sorted(maps.Keys(fields)), Updating: updating[client.ObjectKeyFromObject(stack)], Jobs: c.options.Jobs,
	})
	c.needsSource(ctx, stack)
	return &found, nil
}

// needsSource says once that source-controller is missing, if a Stack needs it.
func (c *migrationCheck) needsSource(ctx context.Context, stack *v1.Stack) {
	const missing = "the cluster has no source-controller, which projectRepo and fluxSource need: flux install --components=source-controller,notification-controller"
	if stack.Spec.ProgramRef != nil || slices.Contains(c.report.Prerequisites, missing) {
		return
	}
	err := c.api.List(ctx, &sourcev1.GitRepositoryList{}, client.InNamespace(stack.Namespace), client.Limit(1))
	if meta.IsNoMatchError(err) {
		c.lacks(missing)
	}
}

// readLeft reads the Workspaces and Updates, and returns the Stacks with an update in flight.
func (c *migrationCheck) readLeft(ctx context.Context) map[client.ObjectKey]bool {
	updating := map[client.ObjectKey]bool{}
	for _, kind := range []string{"Workspace", "Update"} {
		objects, err := c.list(ctx, schema.GroupVersionKind{Group: operatorGroup, Version: "v1alpha1", Kind: kind})
		if meta.IsNoMatchError(err) {
			continue // v1 has none
		}
		c.note(err)
		for i := range objects {
			left := migration.OfOperatorObject(&objects[i])
			c.report.Left = append(c.report.Left, left)
			if left.Updating {
				updating[client.ObjectKey{Namespace: left.Namespace, Name: left.Stack}] = true
			}
		}
	}
	return updating
}

// readPrograms reads the Programs, and reports those with keys that the controller does not know.
func (c *migrationCheck) readPrograms(ctx context.Context) {
	objects, err := c.list(ctx, v1.GroupVersion.WithKind(v1.ProgramKind))
	if !meta.IsNoMatchError(err) {
		c.note(err)
	}
	for i := range objects {
		raw, err := observe.ProgramJSON(&objects[i])
		if err == nil {
			_, _, err = programs.Read(raw)
		}
		if err != nil {
			c.report.Programs = append(c.report.Programs, migration.Program{
				Namespace: objects[i].GetNamespace(), Name: objects[i].GetName(), Fault: err.Error(),
			})
		}
	}
}

// readOperators finds the Deployments of the operator, which may be in other namespaces than the
// Stacks.
func (c *migrationCheck) readOperators(ctx context.Context) {
	list := &appsv1.DeploymentList{}
	for {
		if err := c.api.List(ctx, list, append(slices.Clone(c.in), client.Limit(500), client.Continue(list.Continue))...); err != nil {
			c.note(err)
			return
		}
		for i := range list.Items {
			if found := migration.OfDeployment(&list.Items[i]); found != nil {
				c.report.Operators = append(c.report.Operators, *found)
			}
		}
		if list.Continue == "" {
			return
		}
	}
}

// note notes what could not be read.
func (c *migrationCheck) note(err error) {
	if err != nil {
		c.report.Unreadable = append(c.report.Unreadable, err.Error())
	}
}

// list lists objects as they are stored, in pages.
func (c *migrationCheck) list(ctx context.Context, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	var objects []unstructured.Unstructured
	for {
		if err := c.api.List(ctx, list, append(slices.Clone(c.in), client.Limit(500), client.Continue(list.GetContinue()))...); err != nil {
			return objects, err
		}
		objects = append(objects, list.Items...)
		if list.GetContinue() == "" {
			return objects, nil
		}
	}
}
