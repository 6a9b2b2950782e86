// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
)

// checkDrift asks for a check for drift, and waits for its result.
func (s *session) checkDrift(ctx context.Context, api client.WithWatch, of target) error {
	stack := &v1.Stack{}
	if err := api.Get(ctx, of.ObjectKey, stack); err != nil {
		return cluster.Explain(err)
	}
	request, err := s.askToCheckDrift(ctx, api, stack)
	if err != nil {
		return err
	}
	s.Waitingf("waiting for the check for drift")
	object, err := s.await(ctx, api, of, func(object *unstructured.Unstructured) (bool, error) {
		return isChecked(object, request)
	})
	if err != nil {
		return err
	}
	checked := &v1.Stack{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, checked); err != nil {
		return fmt.Errorf("reading Stack %s: %w", of.Name, err)
	}
	switch found := checked.Status.Drift; {
	case found.Result == v1.DriftCheckFailedReason:
		return fmt.Errorf("the check for drift has failed: %s", found.Message)
	case found.Result == v1.DriftDetectedReason:
		s.Warningf("%s: see flux pulumi drift stack %s -n %s", words.Drift(found), of.Name, of.Namespace)
	default:
		s.Successf("%s", words.Drift(found))
	}
	return nil
}

// askToCheckDrift requests a check for drift and does not wait for it. It returns the request.
func (s *session) askToCheckDrift(ctx context.Context, api client.Client, stack *v1.Stack) (string, error) {
	request := s.Now().Format(time.RFC3339Nano)
	return request, s.annotateStack(ctx, api, stack, v1.CheckDriftAnnotation, request)
}

// isChecked reports whether the check that was requested has ended. It returns an error if
// another request replaced this one, which is then never answered.
func isChecked(object *unstructured.Unstructured, request string) (bool, error) {
	handled, _, err := unstructured.NestedString(object.Object, "status", "drift", "lastHandledCheck")
	if err != nil || handled == request {
		return err == nil, err
	}
	if object.GetAnnotations()[v1.CheckDriftAnnotation] != request {
		return false, errors.New("another check of the Stack was requested in the meantime: try again")
	}
	return false, nil
}
