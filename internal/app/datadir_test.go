// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestTheDataDirectoryHasOneOwner(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "data")
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	first, second := &dataDir{path: path}, &dataDir{path: path}
	g.Expect(first.Take()).To(And(MatchError(ContainSubstring("not a directory")), Not(MatchError(errInUse))))
	g.Expect(os.Remove(path)).To(Succeed())
	g.Expect(first.Take()).To(Succeed())
	g.Expect(first.Take()).To(Succeed(), "it has it")
	g.Expect(second.Take()).To(MatchError(errInUse))
	_, err := holders{dir: second}.Gone(t.Context(), v1.RunHolder{}, time.Time{})
	g.Expect(err).To(MatchError(errInUse), "what became of its runs is not known")
	first.Close()
	g.Expect(second.Take()).To(Succeed())
	second.Close()
}
