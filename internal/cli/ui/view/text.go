// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

const (
	// maxLine bounds a text of the list of all Stacks, and maxText any other one, in bytes.
	maxLine = 300
	maxText = 8 << 10
	// maxName bounds a name, a revision or a digest.
	maxName = 1 << 10
	// maxItems bounds each list.
	maxItems = 1000
)

func name(text string) string { return bounded.Line(text, maxName) }

func text(long string) string { return bounded.Text(long, maxText) }

// first returns at most so many of a list as are shown.
func first[T any](list []T) []T { return list[:min(len(list), maxItems)] }

// stamp is a time in the form that browsers read, "" if there is none.
func stamp(at *metav1.Time) string {
	if at == nil || at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
