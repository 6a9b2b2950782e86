// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"
)

// state is the stack's entry in the backend.
type state struct {
	Checkpoint struct {
		Latest struct {
			Resources []struct{ URN, ID, Type string }
			Pending   []struct {
				Type     string
				Resource struct{ URN string }
			} `json:"pending_operations"`
		}
	}
}

// checkpoint is the path of the checkpoint in the backend.
func (u *subject) checkpoint() string {
	return filepath.Join(u.backend(), ".pulumi", "stacks", u.name, "dev.json")
}

func (u *subject) state() state {
	text, err := os.ReadFile(u.checkpoint())
	u.Expect(err).NotTo(HaveOccurred(), "the checkpoint can be read")
	var s state
	u.Expect(json.Unmarshal(text, &s)).To(Succeed(), "the checkpoint is whole")
	return s
}

// known returns the things in the state, by ID.
func (u *subject) known() map[string]bool {
	known := map[string]bool{}
	for _, resource := range u.state().Checkpoint.Latest.Resources {
		if resource.Type == "lab:index:Thing" {
			u.Expect(known).NotTo(HaveKey(resource.ID), "each is there once")
			known[resource.ID] = true
		}
	}
	return known
}

// nameOf returns the name of the thing with a URN, which is also its logical name.
func nameOf(urn string) string { return urn[strings.LastIndex(urn, "::")+2:] }

// lockDir is the directory of the stack's locks in the backend.
func (u *subject) lockDir() string {
	return filepath.Join(u.backend(), ".pulumi", "locks", "organization", u.name, "dev")
}

// locks returns the lock files in the backend.
func (u *subject) locks() []string {
	var found []string
	err := filepath.WalkDir(filepath.Join(u.backend(), ".pulumi", "locks"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".json") {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		u.Expect(err).NotTo(HaveOccurred())
	}
	return found
}

// checkExact checks that the cloud, the state and the program agree, that each thing was
// created exactly once, and that no run left anything.
func (u *subject) checkExact() {
	existing, err := u.cloud().Things()
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(existing).To(HaveLen(len(u.wanted)), "each thing exists once")
	u.Expect(u.known()).To(HaveLen(len(existing)))
	for _, t := range existing {
		u.Expect(u.known()).To(HaveKey(t.ID), "the state knows it")
		u.Expect(u.cloud().Created(t.Name)).To(Equal(1), "%s was created once", t.Name)
	}
	u.checkQuiet()
}

// checkQuiet checks that no run left a lock, an operation in flight or a process.
func (u *subject) checkQuiet() {
	u.Expect(u.state().Checkpoint.Latest.Pending).To(BeEmpty())
	u.Expect(u.locks()).To(BeEmpty())
	u.Eventually(func() []int { return u.processes("") }).Should(BeEmpty(), "no process of a run lives on")
}

// checkDestroyed checks that nothing is left after the Stack is gone.
func (u *subject) checkDestroyed() {
	existing, err := u.cloud().Things()
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(existing).To(BeEmpty())
	u.Expect(u.locks()).To(BeEmpty())
	u.Expect(filepath.Join(u.backend(), ".pulumi", "stacks", u.name, "dev.json")).NotTo(BeAnExistingFile())
}
