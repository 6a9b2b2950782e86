// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

// Snapshots keep what installations brought. *snapshot.Store implements it.
type Snapshots interface {
	// Lock waits until no other run uses the snapshot, though not for ever, and calls waiting before.
	Lock(ctx context.Context, id snapshot.ID, waiting func()) (unlock func(), err error)
	// Restore copies a snapshot into the workspace, and tells whether there is one.
	Restore(ctx context.Context, id snapshot.ID, root *os.Root) (bool, error)
	// Save keeps files of the workspace.
	Save(ctx context.Context, id snapshot.ID, root *os.Root, names []string) error
	// TakeBack takes what Restore or Save has left in a workspace for the next run with the same snapshot. No process
	// of the run is alive any more.
	TakeBack(workspace string) error
	// Passed reports whether a check has passed, and SetPassed remembers it.
	Passed(id snapshot.ID) bool
	SetPassed(id snapshot.ID)
	// Cache opens the cache of a namespace for tools that lock their files themselves. The error
	// wraps errors.ErrUnsupported if there are none.
	Cache(namespace string) (*snapshot.Cache, error)
}

// bringDependencies copies the dependencies of the program from a snapshot, or installs them
// and keeps a snapshot of them. A snapshot is never why a run fails, unless the disk fails or
// is full while it is copied.
func (s *session) bringDependencies(ctx context.Context, root *os.Root, seen sourced, plan installPlan) (exit, error) {
	if s.compilesGo(seen) {
		return s.bringGoProgram(ctx, root, seen, plan)
	}
	id, coversSource, isKept := s.snapshotID(ctx, root, seen)
	if !isKept {
		return s.installBy(ctx, plan)
	}
	s.expectTypeCheck(root, id)
	// Runs that start together install once.
	unlock, err := s.lockSnapshot(ctx, id)
	switch {
	case ctx.Err() != nil:
		return exit{}, context.Cause(ctx)
	case err != nil:
		s.say(fmt.Sprintf("installs the dependencies without a snapshot: %v", err))
		return s.installBy(ctx, plan)
	}
	defer unlock()
	s.restored, err = s.driver.Snapshots.Restore(ctx, id, root)
	switch {
	case s.restored:
		s.skipTypeCheck()
		return exit{}, nil
	case ctx.Err() != nil:
		return exit{}, context.Cause(ctx)
	case errors.Is(err, snapshot.ErrPartial):
		return exit{}, workspaceError{err}
	case err != nil && !errors.Is(err, snapshot.ErrCorrupt):
		s.say(fmt.Sprintf("cannot use the snapshot of the dependencies, and installs them: %v", err))
		return s.installBy(ctx, plan)
	case err != nil:
		s.say(err.Error())
	}
	before, err := snapshot.List(root)
	if err != nil {
		s.say(fmt.Sprintf("the next run installs the dependencies again: %v", err))
		return s.installBy(ctx, plan)
	}
	last, err := s.installApart(ctx, root, plan, coversSource)
	if err != nil || last.code != 0 {
		return last, err
	}
	if err := s.keepDependencies(ctx, id, root, before); err != nil {
		s.say(fmt.Sprintf("the next run installs the dependencies again: %v", err))
	}
	return last, nil
}

// installApart installs dependencies that other programs get too, without the code of this one.
func (s *session) installApart(ctx context.Context, root *os.Root, plan installPlan, coversSource bool) (last exit, err error) {
	if s.needs.runtime != "python" || coversSource {
		return s.installBy(ctx, plan)
	}
	back, err := setAside(root, s.dir.aside())
	if err != nil {
		return exit{}, workspaceError{err}
	}
	last, err = s.installBy(ctx, plan)
	if fault := back(); fault != nil && err == nil {
		err = workspaceError{fmt.Errorf("moving the code of the program back: %w", fault)}
	}
	return last, err
}

// awaitingSame is the progress message while another run installs the same.
const awaitingSame = "waiting for another run that installs the same dependencies"

// lockSnapshot waits until no other run uses the snapshot, and says so.
func (s *session) lockSnapshot(ctx context.Context, id snapshot.ID) (unlock func(), err error) {
	waited := false
	unlock, err = s.driver.Snapshots.Lock(ctx, id, func() {
		waited = true
		s.say(awaitingSame)
		s.reportProgress(run.Progress{Waiting: awaitingSame})
	})
	if waited {
		s.reportProgress(run.Progress{Waiting: installing})
	}
	return unlock, err
}

// keepDependencies keeps what the installation has brought, before any program can change it.
func (s *session) keepDependencies(ctx context.Context, id snapshot.ID, root *os.Root, before snapshot.Listing) error {
	after, err := snapshot.List(root)
	if err != nil {
		return err
	}
	names, err := after.Since(before)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, isOfSource := before[name]; isOfSource && !isManifest(name) && !strings.Contains("/"+name, "/node_modules/") {
			// A later commit with the same manifests may have another version of it.
			return fmt.Errorf("%w: the installation changed %s of the source", snapshot.ErrUnfit, name)
		}
	}
	// Poetry has virtual environments in the home directory, unless configured otherwise, and pip without one installs there.
	if s.needs.runtime == "python" && !slices.ContainsFunc(names, func(name string) bool { return path.Base(name) == "pyvenv.cfg" }) {
		return fmt.Errorf("%w: they are not in a virtual environment in the workspace", snapshot.ErrUnfit)
	}
	return s.driver.Snapshots.Save(ctx, id, root, names)
}

// giveBackDependencies leaves the dependencies of the program and of the policy packs to the next run. It follows
// endLeftovers.
func (s *session) giveBackDependencies() {
	if s.driver.Snapshots == nil {
		return
	}
	workspaces := []string{s.dir.Workspace()}
	for n := range s.run.Policies {
		workspaces = append(workspaces, s.dir.Policy(n).Workspace())
	}
	for _, workspace := range workspaces {
		if err := s.driver.Snapshots.TakeBack(workspace); err != nil {
			s.say(err.Error())
		}
	}
}

// snapshotID returns which snapshot has the dependencies of the program, if they are kept at all, and
// whether that is only for programs of the same source.
func (s *session) snapshotID(ctx context.Context, root *os.Root, seen sourced) (id snapshot.ID, coversSource, isKept bool) {
	artifact := s.run.Program.Artifact
	if s.driver.Snapshots == nil || artifact == nil {
		return snapshot.ID{}, false, false
	}
	i := s.installationOf(seen)
	if !i.isSnapshotted() {
		return snapshot.ID{}, false, false
	}
	key, err := i.key(root)
	if err == nil {
		var namespace string
		if namespace, err = s.namespaceOfSnapshots(ctx); err == nil {
			return snapshot.ID{Namespace: namespace, Key: key.Key}, key.coversSource, true
		}
	}
	s.say(fmt.Sprintf("installs the dependencies without a snapshot: %v", err))
	return snapshot.ID{}, false, false
}

// namespaceOfSnapshots is the name of the namespace and its UID.
func (s *session) namespaceOfSnapshots(ctx context.Context) (string, error) {
	if s.driver.NamespaceUID == nil {
		return s.run.Namespace, nil
	}
	uid, err := s.driver.NamespaceUID(ctx, s.run.Namespace)
	if err != nil {
		return "", fmt.Errorf("reading namespace %s: %w", s.run.Namespace, err)
	}
	return snapshot.NamespaceOf(s.run.Namespace, uid), nil
}

// installationOf is only for a program that has an artifact.
func (s *session) installationOf(seen sourced) installation {
	artifact := s.run.Program.Artifact
	return installation{
		needs: s.needs, seen: seen, isPack: s.isPack, artifact: artifact.Digest, dir: artifact.Dir, env: s.env, tools: s.driver.toolPath(),
	}
}
