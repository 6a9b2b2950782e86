// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

// compiling is the progress message while a program is being compiled.
const compiling = "compiling the program"

// builtProgram is the name of the executable in its directory.
const builtProgram = "program"

// compilesGo reports whether the run compiles the program itself, with caches that the program
// does not know. The language host would compile it in the environment of the program, which has no
// caches, and so all of the SDK in each run. What the Stack and Pulumi.yaml say has precedence.
func (s *session) compilesGo(seen sourced) bool {
	n := s.needs
	if s.driver.Snapshots == nil || s.run.Program.Artifact == nil || n.runtime != "go" || n.packages ||
		seen.nearest["go.mod"] == "" || !seen.tools["go"] || regexp.MustCompile(`"(binary|buildTarget)"`).MatchString(n.options) {
		return false
	}
	steers := regexp.MustCompile("^(GOMODCACHE|GOCACHE|GOCACHEPROG|GOFLAGS|GOPATH|GOENV|GO111MODULE|PULUMI_GO_USE_RUN)=")
	return !slices.ContainsFunc(s.env, steers.MatchString)
}

// bringGoProgram copies the executable of the program from a snapshot, or compiles it and keeps
// it, and has Pulumi run it.
func (s *session) bringGoProgram(ctx context.Context, root *os.Root, seen sourced, plan installPlan) (exit, error) {
	namespace, err := s.namespaceOfSnapshots(ctx)
	var cache *snapshot.Cache
	if err == nil {
		cache, err = s.driver.Snapshots.Cache(namespace)
	}
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			s.say(fmt.Sprintf("compiles the program without a cache: %v", err))
		}
		return s.installBy(ctx, plan)
	}
	s.goCache = cache // the language host needs the modules in it
	id := snapshot.ID{Namespace: namespace, Key: s.installationOf(seen).goKey()}
	unlock, err := s.lockSnapshot(ctx, id)
	if err != nil {
		return exit{}, err
	}
	defer unlock()
	built, err := s.restoreBuilt(ctx, id)
	if err != nil {
		return exit{}, err
	}
	defer func() { _ = built.Close() }() // nothing is buffered
	if !s.restored {
		if err := cache.BeginWriting(); err != nil {
			return exit{}, workspaceError{err}
		}
		last, err := s.buildGo(ctx, root, seen, plan)
		if err := cache.EndWriting(); err != nil {
			s.say(err.Error())
		}
		if err != nil || last.code != 0 || !s.isBuilt {
			return last, err
		}
		if err := s.driver.Snapshots.Save(ctx, id, built, []string{builtProgram}); err != nil {
			s.say(fmt.Sprintf("the next run compiles the program again: %v", err))
		}
	}
	s.useBuilt(root, seen)
	return exit{}, nil
}

// restoreBuilt opens the directory of the executable, with that of an earlier run if there is one.
func (s *session) restoreBuilt(ctx context.Context, id snapshot.ID) (*os.Root, error) {
	if err := errors.Join(remove(s.dir.built()), os.MkdirAll(s.dir.built(), 0o700)); err != nil {
		return nil, workspaceError{err}
	}
	built, err := os.OpenRoot(s.dir.built())
	if err != nil {
		return nil, workspaceError{err}
	}
	s.restored, err = s.driver.Snapshots.Restore(ctx, id, built)
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(context.Cause(ctx), built.Close())
	case err != nil:
		s.say(fmt.Sprintf("cannot use what an earlier run has compiled, and compiles the program: %v", err))
		if err := built.RemoveAll(builtProgram); err != nil {
			return nil, errors.Join(workspaceError{err}, built.Close())
		}
	}
	s.isBuilt = s.restored
	return built, nil
}

// buildGo downloads what the program needs and compiles it, as the language host would. If that
// changes go.mod or go.sum, the executable is not that of the source, and the language host has to.
func (s *session) buildGo(ctx context.Context, root *os.Root, seen sourced, plan installPlan) (exit, error) {
	caches := []string{"GOMODCACHE=" + s.goModules(), "GOCACHE=" + filepath.Join(s.goCache.Dir, "go-build")}
	before := readLocks(root, seen)
	last, err := s.installBy(ctx, plan, caches...)
	if err != nil || last.code != 0 || len(readLocks(root, seen).changedSince(before)) > 0 {
		return last, err
	}
	s.say(compiling)
	s.reportProgress(run.Progress{Waiting: compiling})
	s.compiling = true
	executable := filepath.Join(s.dir.built(), builtProgram)
	last, err = s.callGo(ctx, seen, caches, "build", "-buildvcs=false", "-trimpath", "-ldflags=-w -s", "-o", executable, ".")
	if err != nil || last.code != 0 {
		return last, err
	}
	s.compiling = false
	info, err := os.Stat(executable)
	s.isBuilt = err == nil && info.Mode()&0o100 != 0 // the language host says if it is no program
	if !s.isBuilt || seen.nearest["vendor/modules.txt"] != "" {
		return last, nil
	}
	// The language host looks for plugins in all modules that go.mod names, and downloads those that
	// it does not find, without a word if it cannot.
	_, err = s.callGo(ctx, seen, caches, "mod", "download")
	return exit{}, err
}

// goModules is the module cache of the namespace.
func (s *session) goModules() string { return filepath.Join(s.goCache.Dir, "go-mod") }

func (s *session) callGo(ctx context.Context, seen sourced, caches []string, args ...string) (exit, error) {
	return s.callInstaller(ctx, command{
		tool: findTool("go", s.driver.toolPath()), args: args,
		dir: filepath.Join(s.dir.Workspace(), filepath.FromSlash(seen.dir)), pids: os.DevNull,
	}, caches...)
}

// useBuilt has Pulumi run the executable. If that does not work, Pulumi compiles the program. A
// policy pack is started by the controller itself.
func (s *session) useBuilt(root *os.Root, seen sourced) {
	if s.isPack {
		return
	}
	home, err := os.OpenRoot(s.dir.home())
	if err == nil {
		err = errors.Join(s.setBinary(root, filepath.Join(s.dir.built(), builtProgram)), linkModules(root, seen, s.goModules(), home), home.Close())
	}
	if err != nil {
		s.isBuilt = false
		s.say(fmt.Sprintf("Pulumi compiles the program: %v", err))
	}
}

// leaveGoCache ends the use of the cache of the namespace.
func (s *session) leaveGoCache() {
	if s.goCache == nil {
		return
	}
	if err := s.goCache.Close(); err != nil {
		s.say(err.Error())
	}
}
