// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// removalPatience is how long an interrupted command tries to clean up.
const removalPatience = 10 * time.Second

// traces are what a preview leaves in the cluster until it removes them at its end.
type traces struct {
	// request is the unanswered request, if any.
	request string
	// program is the reference to the local program in configMap, if any.
	program   string
	configMap *corev1.ConfigMap
}

// removeTraces removes the traces, even if ctx has ended.
func (s *session) removeTraces(ctx context.Context, api client.Client, stack *v1.Stack, of *traces) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalPatience)
	defer cancel()
	// Remove the request first: without the other annotation, it would ask for a preview
	// of the Stack's own program.
	s.withdraw(ctx, api, stack, v1.PreviewRequestAnnotation, of.request)
	s.withdraw(ctx, api, stack, v1.PreviewProgramAnnotation, of.program)
	if of.configMap == nil {
		return
	}
	if err := s.insist(ctx, func() error { return api.Delete(ctx, of.configMap) }); client.IgnoreNotFound(err) != nil {
		s.Warningf("cannot delete ConfigMap %s, delete it by hand: %v", of.configMap.Name, err)
	}
}

// withdraw removes an annotation that this command has set, unless value is empty.
func (s *session) withdraw(ctx context.Context, api client.Client, stack *v1.Stack, annotation, value string) {
	if value == "" {
		return
	}
	if err := s.insist(ctx, func() error { return removeAnnotation(ctx, api, stack, annotation, value) }); client.IgnoreNotFound(err) != nil {
		s.Warningf("cannot remove annotation %s of Stack %s, remove it by hand: %v", annotation, stack.Name, err)
	}
}

// insist retries temporary failures until ctx ends. It then returns the last error from
// before that, which says more than the end of ctx.
func (s *session) insist(ctx context.Context, do func() error) error {
	var last error
	for {
		err := do()
		if err == nil || !cluster.IsPassing(err) {
			return err
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(s.PollInterval):
		}
	}
}

// removeAnnotation removes the annotation if it still has the value, and nobody else has
// changed it. It reads the Stack first: if the annotation could not be set, there is nothing
// to remove and nothing to report.
func removeAnnotation(ctx context.Context, api client.Client, stack *v1.Stack, annotation, value string) error {
	now := &v1.Stack{}
	if err := api.Get(ctx, client.ObjectKeyFromObject(stack), now); err != nil || now.Annotations[annotation] != value {
		return err
	}
	path := "/metadata/annotations/" + strings.ReplaceAll(annotation, "/", "~1")
	patch, err := json.Marshal([]map[string]any{{"op": "test", "path": path, "value": value}, {"op": "remove", "path": path}})
	if err != nil {
		return err
	}
	err = api.Patch(ctx, now, client.RawPatch(types.JSONPatchType, patch), fieldOwner)
	if apierrors.IsInvalid(err) {
		return nil // the test failed: someone has changed it meanwhile
	}
	return err
}
