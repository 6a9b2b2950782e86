// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// What a program leaves where the token of its run is written leads nowhere, and stops nothing.
func TestATokenIsWrittenNowhereElse(t *testing.T) {
	for name, attack := range map[string]func(dir, victim string) error{
		"a link to a file":      func(dir, victim string) error { return os.Symlink(victim, filepath.Join(dir, "token.next")) },
		"a link to what is not": func(dir, victim string) error { return os.Symlink(victim+"-new", filepath.Join(dir, "token.next")) },
		"a hard link":           func(dir, victim string) error { return os.Link(victim, filepath.Join(dir, "token.next")) },
		"a pipe":                func(dir, _ string) error { return unix.Mkfifo(filepath.Join(dir, "token.next"), 0o600) },
		"a directory":           func(dir, _ string) error { return os.MkdirAll(filepath.Join(dir, "token.next", "a"), 0o700) },
		"a link in place of the token": func(dir, victim string) error {
			if err := os.Remove(filepath.Join(dir, "token")); err != nil {
				return err
			}
			return os.Symlink(victim, filepath.Join(dir, "token"))
		},
		"a link in place of the directory": func(dir, victim string) error {
			if err := os.Rename(dir, dir+"-moved"); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(victim), dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, other := t.TempDir(), t.TempDir()
			dir, victim := filepath.Join(home, ".kube"), filepath.Join(other, "token")
			NewWithT(t).Expect(os.WriteFile(victim, []byte("of another run"), 0o600)).To(Succeed())
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				access, err := accountsOf(&issuer{}).Open(t.Context(), dir, deployer, func(line string) { t.Error(line) })
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(attack(dir, victim)).To(Succeed())
				time.Sleep(time.Hour)
				synctest.Wait()
				access.Close() // it would wait for a pipe for ever
				g.Expect(access.Tokens()).To(ContainElement("deployer-token-2"))
			})
			g := NewWithT(t)
			if _, err := os.Stat(dir + "-moved"); err == nil {
				dir += "-moved"
			}
			g.Expect(os.ReadFile(filepath.Join(dir, "token"))).To(BeEquivalentTo("deployer-token-2"))
			g.Expect(os.ReadFile(victim)).To(BeEquivalentTo("of another run"))
			g.Expect(os.ReadDir(other)).To(HaveLen(1))
		})
	}
}

// An earlier process of the run may have been there, such as one before a recovery.
func TestTheDirectoryOfATokenIsALinkToNowhere(t *testing.T) {
	g := NewWithT(t)
	home, other := t.TempDir(), t.TempDir()
	dir := filepath.Join(home, ".kube")
	g.Expect(os.Symlink(other, dir)).To(Succeed())
	access, err := accountsOf(&issuer{}).Open(t.Context(), dir, deployer, ignore)
	g.Expect(err).NotTo(HaveOccurred())
	access.Close()
	g.Expect(os.ReadDir(other)).To(BeEmpty())
	g.Expect(os.ReadFile(filepath.Join(dir, "token"))).To(BeEquivalentTo("deployer-token-1"))

	_, err = accountsOf(&issuer{}).Open(t.Context(), filepath.Join(home, "missing", ".kube"), deployer, ignore)
	g.Expect(err).To(MatchError(HavePrefix("opening the directory of the run: ")))
}
