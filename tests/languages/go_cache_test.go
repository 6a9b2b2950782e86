// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// newGoProxy serves the modules of this machine, and counts those that were downloaded.
func newGoProxy(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	modules := http.FileServer(http.Dir(toolchain.GoDownloads()))
	var downloads atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".zip") {
			downloads.Add(1)
		}
		modules.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy, &downloads
}

// onceProgram notes when its executable was made, and what it knows of the caches of Go. It does without the SDK, which takes
// minutes to compile.
const onceProgram = `package main

import (
	"fmt"
	"os"
	"time"

	"github.com/blang/semver"
)

func main() {
	executable, _ := os.Executable()
	info, err := os.Stat(executable)
	if err != nil {
		panic(err)
	}
	version := semver.MustParse("1.2.3")
	notes, err := os.OpenFile(os.Getenv("NOTES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(notes, "first", info.ModTime().Truncate(time.Second).Unix(), version, os.Getenv("GOMODCACHE")+os.Getenv("GOCACHE"))
	if err := notes.Close(); err != nil {
		panic(err)
	}
}
`

// A program in Go is compiled once for all Stacks of a namespace. A new commit compiles only what it has changed.
func TestAProgramInGoIsCompiledOnce(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	proxy, downloads := newGoProxy(t)
	const module, sum = "github.com/blang/semver v3.5.1+incompatible", "h1:cQNTCjp13qL8KC3Nbxr/y2Bqb63oX6wdnnjpJbkM4JQ="
	p := newProject(t, sources.Files{
		"Pulumi.yaml": "name: app\nruntime: go\n", "main.go": onceProgram,
		"go.mod": "module app\n\ngo 1.26.0\n\nrequire " + module + "\n",
		"go.sum": module + " " + sum + "\n" + module + "/go.mod h1:kRBLl5iJ+tD4TcOOxsy/0fnwebNt5EWlYSAyrTnjyyk=\n",
	})
	notes := p.place() + "-notes"
	named := func(name string) func(*v1.StackSpec) {
		return func(s *v1.StackSpec) {
			delete(s.EnvRefs, "GOMODCACHE")
			delete(s.EnvRefs, "GOCACHE")
			s.EnvRefs["GOPROXY"], s.EnvRefs["GOSUMDB"], s.EnvRefs["NOTES"] = literal(proxy.URL), literal("off"), literal(notes)
			s.Stack = name
		}
	}
	noted := func() map[string]int {
		text, err := os.ReadFile(notes)
		p.Expect(err).NotTo(HaveOccurred())
		count := map[string]int{}
		for line := range strings.Lines(string(text)) {
			count[strings.TrimSpace(line)]++
		}
		return count
	}
	compiled := func() int {
		found, err := filepath.Glob(filepath.Join(p.DataDir(), "dependencies", p.namespace+".*", "cache", "go-build", "*", "*"))
		p.Expect(err).NotTo(HaveOccurred())
		return len(found)
	}
	first, second := p.stack(named("dev")), p.stack(named("prod"))
	p.awaitReady(first)
	p.awaitReady(second)
	p.edit(first, func(s *v1.StackSpec) { s.Config["app:value"] = value("two") })
	p.awaitReady(first)
	p.Expect(noted()).To(HaveLen(1), "three runs had the same executable")
	p.Expect(noted()).To(HaveEach(3))
	for line := range noted() {
		p.Expect(strings.Fields(line)).To(HaveLen(3), "the program knows no cache")
	}
	p.Expect(downloads.Load()).To(BeEquivalentTo(1))

	before := compiled()
	p.Expect(before).To(BeNumerically(">", 100), "the standard library")
	p.commit(sources.Files{"main.go": strings.ReplaceAll(onceProgram, `"first"`, `"second"`)})
	p.awaitReady(first)
	p.Expect(noted()).To(HaveLen(2))
	p.Expect(compiled()).To(BeNumerically("~", before+10, 10), "it compiled the program alone")
	p.Expect(downloads.Load()).To(BeEquivalentTo(1))

	p.commit(sources.Files{"main.go": "package main\n\nfunc main() {\n\tnowhere()\n}\n"})
	p.awaitFailure(first, "main.go:4:2: undefined: nowhere")
}
