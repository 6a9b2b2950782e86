// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Pulumi YAML takes a Pulumi.yaml without any section of a program for a program without
// resources, and the engine then deletes all resources of the stack. Most often, it is the
// program that is missing: a Main.yaml that is a symbolic link is not in the artifact, nor
// is one that .sourceignore excludes, and main.yaml is another file in a cluster. Programs
// in other languages fail without their files.

// applies reports whether the run makes the stack what its program says, or previews that.
// No other operation deletes what is not in the program.
func applies(r run.Run) bool { return run.KindOf(r.Operation).Program == run.ProgramAlways }

// checkProgram rejects a source that has nothing to run, or of which that cannot be seen. A
// Program cannot be missing, and may be empty until there are resources to lose: see
// keepResources.
func checkProgram(found *programFile, project string, r run.Run) error {
	switch {
	case found == nil || !applies(r) || r.Program.YAML != nil:
		return nil
	case found.outside:
		return fmt.Errorf("project %q has no program: main of its Pulumi.yaml is %q, which is not in the source: "+
			"set it to a directory of the source that has the program", project, found.dir)
	case found.tooBig:
		return fmt.Errorf("%s in the directory %q is too big to see whether it has lost its resources: it can have up to %d MiB. "+
			"Move long texts into files, which fn::readFile reads", found.name, path.Join("/", found.dir), maxProgram>>20)
	case !found.hasNothing():
		return nil
	}
	return fmt.Errorf("project %q has no program: %s. To delete all resources of the stack on purpose, set resources: {} in %s",
		project, found.whyNothing(), cmp.Or(found.name, "Main.yaml"))
}

// whyNothing says why there is nothing to run, and what to do.
func (f *programFile) whyNothing() string {
	dir := path.Join("/", f.dir)
	if f.missing {
		return fmt.Sprintf("the directory %q, which main names, does not exist: %s", dir, run.LeftOutOfArtifacts)
	}
	if f.name != "" && f.name != "Pulumi.yaml" {
		text := fmt.Sprintf("%s in the directory %q has no resources, variables or outputs", f.name, dir)
		if f.hidden != "" {
			text += fmt.Sprintf(", and Pulumi does not read the program in %s because of it: delete %s to run that program", f.hidden, f.name)
		}
		return text
	}
	text := fmt.Sprintf("there is no Main.yaml in the directory %q", dir)
	if f.name != "" {
		text += ", and its Pulumi.yaml has no resources, variables or outputs"
	}
	if f.misnamed != "" {
		return fmt.Sprintf("%s. Pulumi does not read its %s: rename it to %s", text, f.misnamed, f.rightName)
	}
	return text + ": " + run.LeftOutOfArtifacts
}

// keepResources ends a run whose program does not say what resources it has, if the stack
// has any: the update would delete them all. A section that is lost in a bad patch looks
// like that, and so does one with a typing error in its name.
func (s *session) keepResources(ctx context.Context) (exit, error) {
	if s.file == nil || s.file.resources != nil {
		return exit{}, nil
	}
	if s.state == nil {
		if _, last, err := s.export(ctx); err != nil || last.code != 0 {
			return last, err
		}
	}
	lost := slices.DeleteFunc(slices.Clone(s.state.managed), func(r run.Resource) bool { return r.External })
	if len(lost) == 0 {
		return exit{}, nil
	}
	where := fmt.Sprintf("resources: {} in %s", s.file.name)
	if s.run.Program.YAML != nil {
		where = "program.resources of the Program to {}"
	}
	return exit{}, fmt.Errorf("the program has no resources, and the stack has %d, which an update would delete: "+
		"bring the resources of the program back, or, to delete those of the stack on purpose, set %s", len(lost), where)
}
