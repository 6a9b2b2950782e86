// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestGlobalGitExcludesAreFoundWhereGitFindsThem(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		env    map[string]string
		want   string
		fault  string
	}{
		"in its config":            {config: "[core]\n\texcludesFile = /etc/mine\n", env: map[string]string{"HOME": "/home/a"}, want: "/etc/mine"},
		"in the home":              {env: map[string]string{"HOME": "/home/a"}, want: filepath.FromSlash("/home/a/.config/git/ignore")},
		"with the config of all":   {env: map[string]string{"HOME": "/home/a", "XDG_CONFIG_HOME": "/conf"}, want: filepath.FromSlash("/conf/git/ignore")},
		"nowhere":                  {},
		"in a config with a fault": {config: "[core\n", fault: "reading core.excludesFile of git: fatal: bad config line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := filepath.Join(t.TempDir(), "config")
			g.Expect(os.WriteFile(config, []byte(test.config), 0o644)).To(Succeed())
			t.Setenv("GIT_CONFIG_GLOBAL", config)
			t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			s := &session{Environment: testEnvironment()}
			s.Getenv = func(name string) string { return test.env[name] }
			found, err := s.gitExcludes(t.Context(), t.TempDir())
			if test.fault != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.fault)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(Equal(test.want))
		})
	}
}
