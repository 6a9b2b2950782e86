// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// runtimePatience is how long a run waits for the runtime of its program: source-controller may be
// restarted, with all of its artifacts to fetch again.
const runtimePatience = 5 * time.Minute

// errReadingRuntime says that the runtime of a program is being read. The run is queued when it is known.
var errReadingRuntime = errors.New("the runtime of the program is being read")

// runtimeRead is what is known of the runtime of a run's program.
type runtimeRead struct {
	// since is when it was first read, zero before that.
	since time.Time
	// isActive says that it is being read, isKnown that it was.
	isActive, isKnown bool
	runtime           string
	// err is why the last of the failures could not read it, and next when to read it again.
	err      error
	failures int
	next     time.Time
}

// start notes that the runtime is being read, unless it is known, is being read or was read just now.
func (read *runtimeRead) start(now time.Time) (starts bool) {
	if read.since.IsZero() {
		read.since = now
	}
	starts = !read.isKnown && !read.isActive && !now.Before(read.next)
	read.isActive = read.isActive || starts
	return starts
}

// end notes what was read.
func (read *runtimeRead) end(now time.Time, runtime string, err error) {
	read.isActive, read.isKnown, read.runtime, read.err = false, err == nil, runtime, err
	if err != nil {
		read.next = now.Add(min(retryFirst<<min(read.failures, 16), retryMost))
		read.failures++
	}
}

// settingsFor returns the settings with the image for the runtime of a run's program. It does not
// wait for the source, which may be away: the error is errReadingRuntime.
func (r *Runner) settingsFor(ctx context.Context, k key, todo run.Run) (Settings, error) {
	s := r.options.Settings
	s.runtime = todo.Project.Runtime
	if len(s.RuntimeImages) == 0 || namesImage(todo) {
		return s, nil
	}
	var err error
	s.runtime, err = r.runtimeOf(ctx, k, todo)
	s.runtimeImage = s.RuntimeImages[s.runtime]
	return s, err
}

// namesImage reports whether the Stack names an image, so that its runtime does not matter.
// What is wrong with its template is found later.
func namesImage(todo run.Run) bool {
	template, err := parseTemplate(todo.Workspace)
	if err != nil || template.Image != "" {
		return err == nil
	}
	var patch corev1.PodTemplateSpec
	if json.Unmarshal(template.PodTemplate, &patch) != nil {
		return false
	}
	return slices.ContainsFunc(patch.Spec.Containers, func(c corev1.Container) bool { return c.Name == mainContainer && c.Image != "" })
}

// runtimeOf returns the runtime of the program, "" if it is not known. A run from the state
// only needs the program if the state has resources of a dynamic provider, so the runtime of
// the program that was last executed counts, even if the source has another one by now.
func (r *Runner) runtimeOf(ctx context.Context, k key, todo run.Run) (string, error) {
	artifact := todo.Program.Artifact
	if artifact == nil || (!todo.NeedsArtifact() && todo.Project.Runtime != "") {
		return todo.Project.Runtime, nil
	}
	var read runtimeRead
	starts := false
	r.update(k, func(known *record) {
		starts = known.create.runtime.start(time.Now())
		read = known.create.runtime
		if time.Since(read.since) >= createAllowance && !read.isKnown {
			r.lapseSlot(known) // until its Job exists
		}
	})
	switch {
	case read.isKnown:
		return read.runtime, nil
	case !read.isActive:
		return "", read.err
	case starts:
		go r.readRuntime(context.WithoutCancel(ctx), k, *artifact)
	}
	return "", errReadingRuntime
}

// readRuntime reads the runtime of a program outside of the passes, of which only so many can wait.
func (r *Runner) readRuntime(ctx context.Context, k key, artifact run.Artifact) {
	runtime, err := r.options.Runtime(ctx, artifact)
	r.update(k, func(known *record) { known.create.runtime.end(time.Now(), runtime, err) })
	r.queue.Add(k)
}
