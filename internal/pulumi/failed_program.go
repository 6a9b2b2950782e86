// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"path/filepath"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/programerror"
)

// failedProgram describes the program of the run for the message about its failure.
func (s *session) failedProgram() programerror.Program {
	p := programerror.Program{Runtime: s.project.Runtime}
	if s.driver != nil && s.driver.Memory != nil {
		now := s.driver.Memory()
		p.Memory = programerror.Memory{Limit: now.Limit, Killed: now.Kills > s.oomKills}
	}
	program := s.dir.Workspace()
	if s.prepared != nil {
		p.Runtime, program = s.prepared.project.Runtime, s.program
	}
	within, err := filepath.Rel(string(s.dir), program)
	if err != nil {
		return p
	}
	p.Places = placesOf(s.dir, within)
	// Programs may see the directory by the path without links.
	if resolved, err := filepath.EvalSymlinks(string(s.dir)); err == nil && resolved != string(s.dir) {
		p.Places = append(p.Places, placesOf(Directory(resolved), within)...)
	}
	return p
}

// placesOf are the directories of a run whose program is within that directory of it.
func placesOf(d Directory, within string) []programerror.PathAlias {
	program := filepath.Join(string(d), within)
	places := []programerror.PathAlias{{Dir: program, As: programerror.Here}}
	if up, err := filepath.Rel(program, d.Workspace()); err == nil && up != programerror.Here {
		places = append(places, programerror.PathAlias{Dir: d.Workspace(), As: up})
	}
	return append(places, programerror.PathAlias{Dir: d.home(), As: "~"}, programerror.PathAlias{Dir: d.temp(), As: programerror.Temp})
}

// withoutID replaces the ID of a run: the message of the next attempt is the same then,
// and no new Event or alert.
func withoutID(text, id string) string {
	if id == "" {
		return text
	}
	return strings.ReplaceAll(text, id, "<run>")
}
