// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
)

const partPreview = "preview"

// previewed returns what the last preview has found that a person has asked for, as the command preview shows it.
func (p *pageCommands) previewed(ctx context.Context, stack *v1.Stack) view.PreviewAnswer {
	if of := stack.Status.Preview; of == nil || of.EndedAt == nil {
		return view.PreviewAnswerOf(stack, nil, "")
	}
	made, unlisted, err := readPreview(ctx, p.api, stack)
	if err != nil {
		return view.PreviewAnswerOf(stack, nil, err.Error())
	}
	made.More.Other += unlisted
	return view.PreviewAnswerOf(stack, &made, "")
}
