// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestWhichSchemasAreKeptForAllRuns(t *testing.T) {
	g := NewWithT(t)
	for file, want := range map[string]pluginName{
		"aws-7.0.0.json":                  {"resource", "aws", "7.0.0"},
		"azure-native-3.1.0.json":         {"resource", "azure-native", "3.1.0"},
		"a-0.1.0-alpha.1+a1b2.json":       {"resource", "a", "0.1.0-alpha.1+a1b2"},
		"aws-7.0.0-0123456789ab.json":     {"resource", "aws", "7.0.0-0123456789ab"},
		"aws.json":                        {},
		"aws-7.0.0":                       {},
		"aws-7.0.0.json.tmp":              {},
		"../aws-7.0.0.json":               {},
		"aws-7.0.0/../../other-1.0.json":  {},
		"--server=x-1.0.0.json":           {},
		"aws-7.0.0 --server=x.json":       {},
		"terraform-provider-1.0.0 b.json": {},
	} {
		plugin, ok := schemaNamed(file)
		g.Expect(plugin).To(Equal(want), file)
		g.Expect(ok).To(Equal(want != pluginName{}), file)
	}
}

func TestASchemaIsNotOlderThanItsPlugin(t *testing.T) {
	g := NewWithT(t)
	d := &Driver{Cache: t.TempDir()}
	dir := Directory(t.TempDir())
	g.Expect(dir.Make()).To(Succeed())
	names := []string{"a-1.0.0.json", "b-1.0.0.json", "c-1.0.0.json", "d-1.0.0.json", "nothing"}
	writeTree(t, d.sharedPlugins(), map[string]string{
		"resource-a-v1.0.0/pulumi-resource-a": "", "resource-b-v1.0.0/pulumi-resource-b": "",
		"resource-c-v1.0.0/pulumi-resource-c": "", "resource-c-v1.0.0.partial": "",
	})
	writeTree(t, d.sharedSchemas(), map[string]string{"a-1.0.0.json": "{}", "b-1.0.0.json": "{}", "c-1.0.0.json": "{}", "d-1.0.0.json": "{}"})
	before := time.Now().Add(-time.Hour)
	g.Expect(os.Chtimes(filepath.Join(d.sharedSchemas(), "b-1.0.0.json"), before, before)).To(Succeed())

	g.Expect(d.newSchemas(names)).To(Equal([]pluginName{{"resource", "b", "1.0.0"}}), "which was installed again since")
	for range 2 { // also again, whatever a program has left
		g.Expect(d.linkSchemas(dir)).To(Succeed())
		g.Expect(namesIn(filepath.Join(dir.schemas()))).To(Equal([]string{"a-1.0.0.json"}))
		g.Expect(os.Readlink(filepath.Join(dir.pulumiHome(), "schemas"))).To(Equal(dir.schemas()))
		g.Expect(os.WriteFile(filepath.Join(dir.schemas(), "x-1.0.0.json"), nil, 0o600)).To(Succeed())
	}

	g.Expect(remove(dir.schemas())).To(Succeed())
	g.Expect(os.Symlink(d.sharedSchemas(), dir.schemas())).To(Succeed())
	_, err := namesIn(dir.schemas())
	g.Expect(err).To(HaveOccurred(), "a link is not followed")
}

// Such as one of another user, with a volume that is kept.
func TestASchemaThatCannotBeUsedIsLeftOut(t *testing.T) {
	g := NewWithT(t)
	d := &Driver{Cache: t.TempDir()}
	dir := Directory(t.TempDir())
	g.Expect(dir.Make()).To(Succeed())
	writeTree(t, d.sharedPlugins(), map[string]string{"resource-a-v1.0.0/pulumi-resource-a": ""})
	writeTree(t, d.sharedSchemas(), map[string]string{"a-1.0.0.json": "{}"})
	schema := filepath.Join(d.sharedSchemas(), "a-1.0.0.json")
	if err := exec.Command("chattr", "+i", schema).Run(); err != nil {
		t.Skip(err) // not as root, or on another file system
	}
	defer func() { g.Expect(exec.Command("chattr", "-i", schema).Run()).To(Succeed()) }()
	g.Expect(d.linkSchemas(dir)).To(Succeed())
	g.Expect(os.ReadDir(dir.schemas())).To(BeEmpty())
}

func TestASchemaIsBounded(t *testing.T) {
	g := NewWithT(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "schema"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = file.Close() }()
	to := &limitedFile{file: file, left: 4}
	for _, text := range []string{"abc", "de", "f"} {
		g.Expect(to.Write([]byte(text))).To(Equal(len(text)))
	}
	g.Expect(to.err).To(MatchError(ContainSubstring("it has more than")))
	g.Expect(os.ReadFile(file.Name())).To(Equal([]byte("abc")))
}
