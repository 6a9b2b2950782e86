// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

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

// forbiddenProblem tells which right the controller is missing to read what the
// Stack refers to, or returns nil for any other error. Trying again helps as soon as
// somebody gives it the right; until then nobody but the log would know.
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
		// Secrets and ConfigMaps; what a program is made from is of a group.
		problem.Reason = v1.InputsFailedReason
	}
	var ofReader *deniedToReaderError
	if !errors.As(err, &ofReader) {
		problem.Message = fmt.Sprintf("%v: give the controller the right to get %s", err, resource)
	}
	return problem
}
