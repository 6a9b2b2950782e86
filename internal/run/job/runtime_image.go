// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// settingsFor returns the settings with the image for the runtime of a run's program.
func (r *Runner) settingsFor(ctx context.Context, todo run.Run) (Settings, error) {
	s := r.options.Settings
	if len(s.RuntimeImages) == 0 || namesImage(todo) {
		return s, nil
	}
	runtime, err := r.runtimeOf(ctx, todo)
	s.runtimeImage = s.RuntimeImages[runtime]
	return s, err
}

// namesImage reports whether the Stack names an image, so that its runtime does not matter.
// What is wrong with its template is found later.
func namesImage(todo run.Run) bool {
	template, err := parseTemplate(todo.Workspace)
	return err == nil && template.Image != ""
}

// runtimeOf returns the runtime of the program, "" if it is not known. A run from the state
// only needs the program if the state has resources of a dynamic provider, so the runtime of
// the program that was last executed counts, even if the source has another one by now.
func (r *Runner) runtimeOf(ctx context.Context, todo run.Run) (string, error) {
	artifact := todo.Program.Artifact
	if artifact == nil || (!todo.NeedsArtifact() && todo.Project.Runtime != "") {
		return todo.Project.Runtime, nil
	}
	return r.options.Runtime(ctx, *artifact)
}
