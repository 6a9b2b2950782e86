// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// maxForgotten bounds the names in an event: the API of events takes 1024 bytes.
const maxForgotten = 700

// forgottenEvent names the creations of unknown outcome that were forgotten, as
// the spec says. Nothing else in the cluster does any more.
func forgottenEvent(urns []string) notice {
	var named strings.Builder
	for i, urn := range urns {
		if named.Len()+len(urn) > maxForgotten {
			fmt.Fprintf(&named, " and %d more, which the log names", len(urns)-i)
			break
		}
		if i > 0 {
			named.WriteString(", ")
		}
		named.WriteString(urn)
	}
	return notice{
		kind:   corev1.EventTypeWarning,
		reason: v1.PendingOperationsReason,
		message: fmt.Sprintf("Forgot these creations of unknown outcome, as spec.pendingCreates is Clear; what exists of them is outside "+
			"of the stack, and is to be looked for at its provider: %s", named.String()),
	}
}
