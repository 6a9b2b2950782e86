// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"errors"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
)

// forbiddenProblem names the right that the controller lacks to read what the Stack
// refers to, or returns nil for any other error. It is worth retrying, since someone may
// grant the right; without the Problem, only the log would say so.
func forbiddenProblem(err error) *decide.Problem {
	var status apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) {
		return nil
	}
	problem := &decide.Problem{Reason: meta.ArtifactFailedReason, Message: err.Error()}
	details := status.Status().Details
	if details == nil || details.Kind == "" {
		return problem
	}
	resource := schema.GroupResource{Group: details.Group, Resource: details.Kind}
	if resource.Group == corev1.GroupName {
		// The core group has Secrets and ConfigMaps; the kinds of program sources have a
		// group.
		problem.Reason = v1.InputsFailedReason
	}
	var ofReader *deniedToReaderError
	if !errors.As(err, &ofReader) {
		problem.Message = fmt.Sprintf("%v: grant the controller permission to get %s", err, resource)
	}
	return problem
}
