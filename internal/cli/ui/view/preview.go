// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// Preview is the last preview that a person has asked for.
type Preview struct {
	// Request is the one that was asked for last, and Answered the one that the status is about.
	Request  string `json:"request,omitempty"`
	Answered string `json:"answered,omitempty"`
	Run      string `json:"run,omitempty"`
	EndedAt  string `json:"endedAt,omitempty"`
	Message  string `json:"message,omitempty"`
}

// PreviewAnswer is what the last preview has found that an update would change.
type PreviewAnswer struct {
	Revision string `json:"revision,omitempty"`
	EndedAt  string `json:"endedAt,omitempty"`
	Plan     *Plan  `json:"plan,omitempty"`
	// Message says what it has found, or why there is nothing to show.
	Message string `json:"message,omitempty"`
}

// previewOf returns the last preview, nil if nobody has asked for one.
func previewOf(stack *v1.Stack) *Preview {
	asked, of := stack.Annotations[v1.PreviewRequestAnnotation], stack.Status.Preview
	switch {
	case of != nil:
		return &Preview{Request: name(asked), Answered: name(of.Request), Run: name(of.Run), EndedAt: stamp(of.EndedAt), Message: text(of.Message)}
	case asked != "":
		return &Preview{Request: name(asked)}
	}
	return nil
}

// PreviewAnswerOf returns what a preview has found, nil if it is not done or could not be read, for which why says the reason.
func PreviewAnswerOf(stack *v1.Stack, read *plan.Plan, why string) PreviewAnswer {
	asked, of := stack.Annotations[v1.PreviewRequestAnnotation], stack.Status.Preview
	switch {
	case of == nil && asked == "":
		return PreviewAnswer{Message: "Nobody has asked for a preview of this Stack"}
	case of == nil:
		return PreviewAnswer{Message: "The preview is asked for"}
	case of.EndedAt == nil:
		return PreviewAnswer{Revision: name(of.Revision), Message: text(cmp.Or(rows.PreviewQueued(stack), "The preview is running"))}
	}
	var notes []string
	if asked != "" && asked != of.Request {
		notes = append(notes, "Another preview is asked for. This is the one before")
	}
	switch {
	case read == nil:
		notes = append(notes, why)
	case read.IsEmpty():
		notes = append(notes, "An update would change nothing")
	default:
		notes = append(notes, "An update would change this: "+read.CountsText())
	}
	return PreviewAnswer{Revision: name(of.Revision), EndedAt: stamp(of.EndedAt), Plan: done(read), Message: text(strings.Join(notes, "\n"))}
}
