// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// Modules and compiled packages are those of this machine, of the versions of tests/lab.
func TestTheGuideForGo(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := newGuide(t, "go.md", sources.Files{
		// As in TestAProgramInAWorkspaceOfGo.
		"hcl/go.mod": "module github.com/hashicorp/hcl\n", "genproto/go.mod": "module google.golang.org/genproto\n",
	})
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	lab := filepath.Join(root, "tests", "lab")
	images := newImages(t)
	modules := g.hasPrivateModule("github.com/acme/naming")
	g.here = append(g.here,
		"go mod init github.com/example/pets\n", "cp "+lab+"/go.mod "+lab+"/go.sum . && go mod edit -module=github.com/example/pets\n",
		"go work init . ./naming", "go work init . ./naming && go work edit -replace=github.com/hashicorp/hcl=./hcl -replace=google.golang.org/genproto=./genproto",
		"https://x-access-token:$GITHUB_TOKEN@github.com/acme/", modules,
		"oci://ghcr.io/example/pets", images.URL("pets"), "flux push artifact", "flux push artifact --insecure-registry",
	)
	g.env = append(g.env, "GOFLAGS=-trimpath") // as what was compiled before
	for name, value := range toolchain.GoEnvironment() {
		if name == "GOMODCACHE" {
			value = g.ownModules(value)
		}
		g.env = append(g.env, name+"="+value)
		g.variables[name] = value
	}
	g.follow()
	g.shownNowhere(registryToken)
}

// newImages starts a registry for images and artifacts.
func newImages(t *testing.T) *sources.OCIRegistry {
	t.Helper()
	g := NewWithT(t)
	images, err := sources.NewOCIRegistry()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(images.Close()).To(Succeed()) })
	return images
}

// hasPrivateModule puts a module behind a password, which the git of the person knows. It returns the URL that stands for the
// owner of the module here, with the token as the page has it.
func (g *guide) hasPrivateModule(module string) string {
	g.test.Helper()
	owner, name := filepath.Dir(module), filepath.Base(module)
	repo, err := g.git.NewRepo(g.test.Context(), g.namespace+"-module")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(g.test.Context(), sources.Files{
		"go.mod": "module " + module + "\n\ngo 1.26.0\n", "naming.go": "// Package naming has names.\npackage naming\n\n// Prefix is ours.\nconst Prefix = \"acme\"\n",
	}, "first")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(repo.Tag(g.test.Context(), "v1.0.0")).To(Succeed())
	served := filepath.Join(g.world.dir, "git")
	g.Expect(os.Mkdir(filepath.Join(served, g.namespace+"-owner"), 0o755)).To(Succeed())
	g.Expect(os.Symlink(filepath.Join(served, g.namespace+"-module.git"), filepath.Join(served, g.namespace+"-owner", name))).To(Succeed())
	guarded, err := sources.NewGuardedGit(g.git, "x-access-token", registryToken)
	g.Expect(err).NotTo(HaveOccurred())
	g.test.Cleanup(func() { g.Expect(guarded.Close()).To(Succeed()) })
	url := strings.Replace(guarded.URL(), "http://", "http://x-access-token:$GITHUB_TOKEN@", 1) + "/" + g.namespace + "-owner/"
	g.env = append(g.env, "GITHUB_TOKEN="+registryToken)
	g.types(`git config --global "url.` + url + `.insteadOf" "https://` + owner + `/"`)
	return url
}

// ownModules is a module cache with links to the modules of another, which gets no others of this owner.
func (g *guide) ownModules(shared string) string {
	g.test.Helper()
	own := g.place() + "-modules" // where runs may read it
	for _, dir := range []string{".", filepath.Join("cache", "download")} {
		for _, within := range []string{dir, filepath.Join(dir, "github.com")} {
			g.Expect(os.MkdirAll(filepath.Join(own, within), 0o755)).To(Succeed())
			entries, err := os.ReadDir(filepath.Join(shared, within))
			g.Expect(err).NotTo(HaveOccurred())
			for _, entry := range entries {
				to := filepath.Join(own, within, entry.Name())
				if entry.Name() == "github.com" || entry.Name() == "cache" {
					continue
				}
				err := os.Symlink(filepath.Join(shared, within, entry.Name()), to)
				g.Expect(errors.Is(err, os.ErrExist) || err == nil).To(BeTrue(), to)
			}
		}
	}
	return own
}
