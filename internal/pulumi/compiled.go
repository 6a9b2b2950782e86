// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/programerror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The compiler of a project in Pulumi YAML prints the program during the run, so that only
// the engine finds out whether it has lost its resources.

// keepCompiled previews an update of a program that a compiler prints, and ends the run if
// the update would delete all resources of the stack.
func (s *session) keepCompiled(ctx context.Context) (exit, error) {
	isNew := s.state != nil && len(s.state.resources) == 0
	if s.compiler == "" || s.run.Operation != run.Update || s.run.Approved != "" || isNew { // a plan shows it too
		return exit{}, nil
	}
	s.say("previewing the update, to see whether the program that the compiler prints has lost its resources")
	deferred := s.deferred
	s.previewing = true
	defer func() { s.previewing = false }()
	last, err := s.withEvents(ctx, append([]string{"preview", "--refresh=false"}, targetFlags(s.run.Options)...)...)
	last, err = s.compiled(last, err)
	if s.checking = err != nil || last.code != 0; !s.checking {
		s.deferred = deferred // the update reports the same diagnostics
	}
	return last, err
}

// compiled is how a call of the engine for a program that a compiler prints has ended.
func (s *session) compiled(last exit, err error) (exit, error) {
	switch {
	case s.compiler == "" || err != nil || last.stopped:
	case last.code == 0 && s.previews() && s.events.deletesAll():
		deletes := s.events.changes()
		s.events = &events{mask: s.mask} // nothing is changed
		err = fmt.Errorf("the compiler %q, which Pulumi.yaml names, prints no resources, and the stack has %d, which an update would delete: "+
			"have it print the resources of the program, or, to delete those of the stack on purpose, remove the compiler from Pulumi.yaml, "+
			"and set resources: {} in Main.yaml", s.compiler, deletes.Deleted+deletes.Retained)
	case last.code != 0 && isHostCrash(failureSign(s.events.errors, last.stderr.Text, last.code)):
		err = fmt.Errorf("the compiler %q, which Pulumi.yaml names, prints no program in Pulumi YAML: "+
			"run it in the directory of Pulumi.yaml to see what it prints", s.compiler)
	}
	return last, err
}

// previews tells whether the last call of the engine was a preview.
func (s *session) previews() bool { return s.previewing || run.KindOf(s.run.Operation).Previews }

// deletesAll tells whether every resource of the stack is deleted, and there was one.
func (e *events) deletesAll() bool {
	changes := e.changes()
	return !changes.Unknown && changes.Deleted+changes.Retained > 0 && changes.Created+changes.Updated+changes.Replaced+changes.Same == 0
}

// isHostCrash recognizes that the language host of Pulumi YAML has crashed: its connection ended,
// or was reset. It does if the compiler prints nothing.
func isHostCrash(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		doing, isLost := programerror.CutLost(line)
		return isLost && strings.Contains(doing, "discover package requirements")
	})
}
