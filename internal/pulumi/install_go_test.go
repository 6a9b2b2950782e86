// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

func TestWhatDecidesWhetherAProgramInGoIsCompiledAgain(t *testing.T) {
	t.Parallel()
	tools := toolsDir(t, "go")
	of := func(env ...string) installation {
		return installation{artifact: "sha256:1", seen: sourced{dir: "infra"}, env: env, tools: []string{tools}}
	}
	with := func(i installation, change func(*installation)) installation {
		change(&i)
		return i
	}
	for name, test := range map[string]struct {
		first, second installation
		isSame        bool
	}{
		"a token that is renewed":   {of("GOPROXY=https://me:1@proxy.example.com,https://me:1@b.example.com|direct", "GOAUTH=a"), of("GOPROXY=https://me:2@proxy.example.com,https://me:2@b.example.com|direct", "GOAUTH=b"), true},
		"credentials of a cloud":    {of("GOOGLE_CREDENTIALS=1", "AWS_SECRET_ACCESS_KEY=1"), of("GOOGLE_CREDENTIALS=2", "AWS_SECRET_ACCESS_KEY=2"), true},
		"another stack":             {of("PULUMI_STACK=1"), of("PULUMI_STACK=2"), true},
		"another commit":            {of(), with(of(), func(i *installation) { i.artifact = "sha256:2" }), false},
		"another directory":         {of(), with(of(), func(i *installation) { i.seen.dir = "lib" }), false},
		"another go":                {of(), with(of(), func(i *installation) { i.tools = []string{"/nowhere"} }), false},
		"another proxy":             {of("GOPROXY=https://a.example.com"), of("GOPROXY=https://b.example.com"), false},
		"without sums":              {of(), of("GONOSUMDB=example.com"), false},
		"another version of Go":     {of(), of("GOTOOLCHAIN=go1.30.0"), false},
		"another processor":         {of("GOAMD64=v1"), of("GOAMD64=v3"), false},
		"C":                         {of("CGO_ENABLED=0"), of("CGO_ENABLED=1"), false},
		"flags of the C compiler":   {of(), of("CGO_CFLAGS=-O1"), false},
		"the workspace":             {of(), of("GOWORK=off"), false},
		"an experiment of the tool": {of(), of("GOEXPERIMENT=x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			NewWithT(t).Expect(test.first.goKey() == test.second.goKey()).To(Equal(test.isSame))
		})
	}
}

func TestWhichProgramsInGoAreCompiledOnce(t *testing.T) {
	t.Parallel()
	const mod = "infra/go.mod"
	type given struct {
		needs needs
		seen  sourced
		env   []string
	}
	program := func() given {
		return given{
			needs: needs{runtime: "go", options: "null"},
			seen:  sourced{nearest: map[string]string{"go.mod": mod}, tools: map[string]bool{"go": true}},
			env:   []string{"GOPROXY=off", "GOFLAGSX=1"},
		}
	}
	for name, test := range map[string]struct {
		change func(*given)
		want   bool
	}{
		"a program":           {func(*given) {}, true},
		"another language":    {func(p *given) { p.needs.runtime = "nodejs" }, false},
		"with packages":       {func(p *given) { p.needs.packages = true }, false},
		"prebuilt":            {func(p *given) { p.needs.options = `{"binary":"app"}` }, false},
		"with a place for it": {func(p *given) { p.needs.options = `{"buildTarget":"app"}` }, false},
		"without a module":    {func(p *given) { p.seen.nearest["go.mod"] = "" }, false},
		"without go":          {func(p *given) { p.seen.tools["go"] = false }, false},
		"a module cache":      {func(p *given) { p.env = append(p.env, "GOMODCACHE=/cache") }, false},
		"a build cache":       {func(p *given) { p.env = append(p.env, "GOCACHE=/cache") }, false},
		"flags":               {func(p *given) { p.env = append(p.env, "GOFLAGS=-mod=mod") }, false},
		"GOPATH":              {func(p *given) { p.env = append(p.env, "GOPATH=/go") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program()
			test.change(&p)
			s := &session{driver: &Driver{Snapshots: &snapshot.Store{}}, env: p.env, prepared: &prepared{needs: p.needs}}
			s.run.Program = run.Program{Artifact: &run.Artifact{}}
			NewWithT(t).Expect(s.compilesGo(p.seen)).To(Equal(test.want))
			s.driver.Snapshots = nil
			NewWithT(t).Expect(s.compilesGo(p.seen)).To(BeFalse(), "nothing is kept")
		})
	}
}

func TestTheModulesOfAProgramAreLinked(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{
		"source/go.mod": "module app\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/Azure/go v1.2.3 // indirect\n\texample.com/missing v1.0.0\n)\n" +
			"require example.com/one v0.1.0\n\nreplace example.com/old v1.0.0 => example.com/new v2.0.0+incompatible\nreplace ../../escape v1.0.0 => ../lib\n",
		"shared/github.com/!azure/go@v1.2.3/go.mod":                       "",
		"shared/cache/download/github.com/!azure/go/@v/v1.2.3.mod":        "",
		"shared/cache/download/github.com/!azure/go/@v/v1.2.3.ziphash":    "",
		"shared/example.com/one@v0.1.0/go.mod":                            "",
		"shared/example.com/new@v2.0.0+incompatible/go.mod":               "",
		"shared/example.com/other@v1.0.0/go.mod":                          "",
		"shared/golang.org/toolchain@v0.0.1-go1.27.0.linux-amd64/VERSION": "",
	})
	root, err := os.OpenRoot(filepath.Join(dir, "source"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = root.Close() }()
	g.Expect(os.Mkdir(filepath.Join(dir, "home"), 0o700)).To(Succeed())
	home, err := os.OpenRoot(filepath.Join(dir, "home"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = home.Close() }()
	to := filepath.Join(home.Name(), "go", "pkg", "mod")
	seen := sourced{nearest: map[string]string{"go.mod": "go.mod"}}
	for range 2 {
		g.Expect(linkModules(root, seen, filepath.Join(dir, "shared"), home)).To(Succeed())
	}
	for _, name := range []string{
		"github.com/!azure/go@v1.2.3", "example.com/one@v0.1.0", "example.com/new@v2.0.0+incompatible", "golang.org/toolchain@v0.0.1-go1.27.0.linux-amd64",
		"cache/download/github.com/!azure/go/@v/v1.2.3.mod", "cache/download/github.com/!azure/go/@v/v1.2.3.ziphash",
	} {
		g.Expect(os.Readlink(filepath.Join(to, name))).To(Equal(filepath.Join(dir, "shared", name)))
	}
	g.Expect(filepath.Glob(filepath.Join(to, "example.com", "*"))).To(HaveLen(2), "neither what is missing nor what it does not name")

	elsewhere := t.TempDir()
	g.Expect(os.RemoveAll(filepath.Join(to, "example.com"))).To(Succeed())
	g.Expect(os.Symlink(elsewhere, filepath.Join(to, "example.com"))).To(Succeed())
	g.Expect(linkModules(root, seen, filepath.Join(dir, "shared"), home)).To(MatchError(ContainSubstring("path escapes from parent")))
	g.Expect(os.ReadDir(elsewhere)).To(BeEmpty())
}
