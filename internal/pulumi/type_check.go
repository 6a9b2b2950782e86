// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"crypto/sha256"
	"os"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

// transpileOnly is the variable that has the SDK for Node.js compile TypeScript without a
// check of its types, which takes two seconds and more of a processor in each run.
const transpileOnly = "PULUMI_NODEJS_TRANSPILE_ONLY"

// expectTypeCheck notes what the check of types of this run would have passed. What the Stack says has precedence.
func (s *session) expectTypeCheck(root *os.Root, dependencies snapshot.ID) {
	if !s.needs.isNode() || slices.ContainsFunc(s.env, func(variable string) bool { return strings.HasPrefix(variable, transpileOnly+"=") }) {
		return
	}
	id := s.typeCheckID(root, dependencies)
	s.typeCheck = &id
}

// skipTypeCheck leaves out the check of types for a program that has passed it before with the very dependencies that were
// restored: its result is the same. An installation may bring others.
func (s *session) skipTypeCheck() {
	if s.typeCheck != nil && s.driver.Snapshots.Passed(*s.typeCheck) {
		s.env = append(s.env, transpileOnly+"=true")
	}
}

// typeCheckID identifies what the check of types reads: the source, the dependencies and the
// settings. A program may load files only for some of its stacks.
func (s *session) typeCheckID(root *os.Root, dependencies snapshot.ID) snapshot.ID {
	k := keyHash{sha256.New()}
	artifact := s.run.Program.Artifact
	k.add("type check", string(dependencies.Key[:]), artifact.Digest, artifact.Dir)
	if !loadsTheSameFiles(root) {
		k.add("stack", s.stack)
	}
	for _, variable := range s.env {
		if strings.HasPrefix(variable, "PULUMI_NODEJS_") || strings.HasPrefix(variable, "TS_NODE_") {
			k.add("variable", variable)
		}
	}
	return snapshot.ID{Namespace: dependencies.Namespace, Key: snapshot.Key(k.Sum(nil))}
}

// noteTypeCheck remembers that the types of a program are right: it ran to its end.
func (s *session) noteTypeCheck(outcome run.Outcome) {
	if s.typeCheck != nil && applies(s.run) && outcome == run.Succeeded {
		s.driver.Snapshots.SetPassed(*s.typeCheck)
	}
}
