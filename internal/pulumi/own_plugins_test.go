// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhichPluginsAreInstalledForAllRuns(t *testing.T) {
	g := NewWithT(t)
	for dir, want := range map[string]pluginName{
		"resource-aws-v6.0.1":             {"resource", "aws", "6.0.1"},
		"resource-azure-native-v3.1.0":    {"resource", "azure-native", "3.1.0"},
		"language-x-v0.1.0-alpha.1+a1b2":  {"language", "x", "0.1.0-alpha.1+a1b2"},
		"resource-aws-v6.0.1.lock":        {},
		"resource-aws-v6.0.1.partial":     {},
		"resource-aws-v6.0.1.lastused":    {},
		"resource-aws-v6.0.1.tmp1234":     {},
		"resource-github.com_a_b-v0.0.0":  {},
		"resource---server=x-v1.0.0":      {},
		"resource-aws-v6.0.1 --server=x":  {},
		"resource-aws-v6.0.1\n":           {},
		"something-aws-v6.0.1":            {},
		"resource-aws":                    {},
		"resource-aws-v6":                 {},
		"../resource-aws-v6.0.1":          {},
		"resource-aws-v6.0.1/../../other": {},
	} {
		plugin, ok := pluginNamed(dir)
		g.Expect(plugin).To(Equal(want), dir)
		g.Expect(ok).To(Equal(want != pluginName{}), dir)
	}
	var many []string
	for n := range 100 {
		many = append(many, fmt.Sprintf("resource-a-v%d.0.0", n))
	}
	g.Expect(newPlugins(many, many)).To(BeEmpty(), "all runs have them")
	g.Expect(newPlugins(many, many[:99])).To(Equal([]pluginName{{"resource", "a", "99.0.0"}}))
	g.Expect(newPlugins(many, nil)).To(HaveLen(maxSharedAtOnce))
}

func TestTheLinksToPluginsLeadToThoseOfAllRuns(t *testing.T) {
	g := NewWithT(t)
	dir, shared, other := Directory(t.TempDir()), t.TempDir(), t.TempDir()
	plugin := filepath.Join(shared, "resource-a-v1.0.0")
	writeTree(t, shared, map[string]string{"resource-a-v1.0.0/pulumi-resource-a": "x", "resource-b-v1.0.0/pulumi-resource-b": "x", "resource-b-v1.0.0.partial": ""})
	g.Expect(dir.Make()).To(Succeed())
	for range 2 { // also again, whatever a program has left
		g.Expect(dir.linkPlugins(shared)).To(Succeed())
		g.Expect(os.Readlink(filepath.Join(dir.pulumiHome(), "plugins"))).To(Equal(dir.plugins()))
		g.Expect(os.Readlink(filepath.Join(dir.plugins(), "resource-a-v1.0.0", "pulumi-resource-a"))).To(Equal(filepath.Join(plugin, "pulumi-resource-a")))
		g.Expect(filepath.Join(dir.plugins(), "resource-b-v1.0.0")).NotTo(BeADirectory(), "its installation is not complete")
		g.Expect(dir.ownPluginNames()).To(ConsistOf("resource-a-v1.0.0"))

		g.Expect(os.Remove(filepath.Join(dir.plugins(), "resource-a-v1.0.0", "pulumi-resource-a"))).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir.plugins(), "resource-a-v1.0.0", "pulumi-resource-a"), nil, 0o600)).To(Succeed())
		g.Expect(os.Symlink(other, filepath.Join(dir.plugins(), "resource-c-v1.0.0"))).To(Succeed())
		g.Expect(dir.ownPluginNames()).To(ConsistOf("resource-a-v1.0.0"), "a link is no plugin")
	}
	g.Expect(os.ReadFile(filepath.Join(plugin, "pulumi-resource-a"))).To(Equal([]byte("x")))
	g.Expect(os.ReadDir(other)).To(BeEmpty())
	g.Expect(dir.ClearBulk()).To(Succeed())
	g.Expect(dir.plugins()).NotTo(BeADirectory())
}
