// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The code of a dynamic provider is in the state, but it runs with the SDK and the other
// dependencies of the program, which Pulumi looks for in the directory of the program: a
// destroy or a refresh fails without them, although it does not run the program.

// isDynamic reports whether a resource is one of a dynamic provider.
func isDynamic(typ string) bool {
	pkg, _, _ := strings.Cut(typ, ":")
	return pkg == "pulumi-nodejs" || pkg == "pulumi-python"
}

// isDynamicURN reports whether a URN is that of a resource of a dynamic provider.
func isDynamicURN(urn string) bool {
	parts := strings.SplitN(urn, "::", 4)
	return len(parts) == 4 && isDynamic(parts[2][strings.LastIndexByte(parts[2], '$')+1:])
}

// bringProgram continues a run that works from the state in the directory of the program,
// with its dependencies installed, if the state has a resource of a dynamic provider.
// Without the program the run continues: the dependencies may be in its image.
func (s *session) bringProgram(ctx context.Context, dynamic string) (exit, error) {
	if dynamic == "" || s.run.RunsProgram() {
		return exit{}, nil
	}
	if s.run.Fetch == nil {
		s.lacking = lackingText(dynamic, s.run.Program.Unavailable)
		return exit{}, nil
	}
	s.say(fmt.Sprintf("the state has a resource of a dynamic provider (%s), which needs the dependencies of the program", dynamic))
	if err := remove(s.dir.Workspace()); err != nil {
		return exit{}, workspaceError{err}
	}
	if err := s.dir.Make(); err != nil {
		return exit{}, workspaceError{err}
	}
	if err := s.run.Fetch(ctx); err != nil {
		return exit{}, fmt.Errorf("%w (%s)", err, needsProgram(dynamic))
	}
	s.run.ForProviders = true
	if err := s.prepare(ctx); err != nil {
		return exit{}, fmt.Errorf("%w (%s)", err, needsProgram(dynamic))
	}
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	return s.install(ctx)
}

func needsProgram(dynamic string) string {
	return fmt.Sprintf("the state has a resource of a dynamic provider, %s, which needs the program and its dependencies", dynamic)
}

func lackingText(dynamic, why string) string {
	return fmt.Sprintf("; %s, but %s: restore the source of the program, or use an image that has its dependencies",
		needsProgram(dynamic), cmp.Or(why, "the Stack has no source with a program"))
}

// lackingProgram says, in the message of a run that has failed, that it had no program.
func (s *session) lackingProgram(outcome run.Outcome) string {
	if outcome != run.Failed {
		return ""
	}
	return s.lacking
}
