// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// After a run, the controller has Pulumi install for all runs the plugins that this one had to download:
// only their names and versions come from the run. The step has no code and no variable of a program, and
// downloads from Pulumi's own servers alone. A plugin of another server, whatever its name, stays that of
// the runs that name the server.

const (
	// pluginServer is where Pulumi publishes its plugins.
	pluginServer = "https://get.pulumi.com/releases/plugins"
	// maxSharedAtOnce bounds how many plugins are installed for all after a run, and sharePatience how
	// long that may take: the run is done, and its result waits.
	maxSharedAtOnce = 16
	sharePatience   = 2 * time.Minute
	// unsharedFor is how long a plugin that could not be installed is not tried again: a run that
	// brings its own from elsewhere must not wait for that each time.
	unsharedFor = 6 * time.Hour
	// maxUnshared bounds the notes about those.
	maxUnshared = 1000
)

// errTooSlow is why sharing was ended.
var errTooSlow = errors.New("it takes too long")

// pluginName is the kind, the name and the version of a plugin.
type pluginName struct{ kind, name, version string }

func (n pluginName) dir() string { return n.kind + "-" + n.name + "-v" + n.version }

// pluginNamed reads the name of the directory of a plugin of Pulumi. A plugin of another source has its
// host in the name, or letters that these have not.
func pluginNamed(dir string) (pluginName, bool) {
	m := regexp.MustCompile(`^(resource|language|analyzer|converter|tool)-([a-z][a-z0-9-]{0,99})-v(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]{1,50})?)$`).FindStringSubmatch(dir)
	if m == nil {
		return pluginName{}, false
	}
	return pluginName{kind: m[1], name: m[2], version: m[3]}, true
}

// newPlugins are those among the plugins of a run that all runs do not have. The entries are what the
// program left: only their names count.
func newPlugins(own, shared []string) []pluginName {
	var found []pluginName
	for _, entry := range own {
		plugin, ok := pluginNamed(entry)
		if ok && !slices.Contains(shared, entry) && len(found) < maxSharedAtOnce {
			found = append(found, plugin)
		}
	}
	return found
}

// share keeps for all runs what this one had to download or to ask for. The run is done, so that a failure only
// means that the next one does it again.
func (s *session) share(ctx context.Context) {
	if s.driver.Sandbox == nil || ctx.Err() != nil {
		return
	}
	limited, cancel := context.WithTimeoutCause(ctx, sharePatience, errTooSlow)
	defer cancel()
	s.shareEach(ctx, s.wantedPlugins(), pluginName.dir, func(plugin pluginName) error {
		err := s.sharePlugin(limited, plugin)
		if err == nil {
			s.say(fmt.Sprintf("installed the plugin %s %s for all runs", plugin.name, plugin.version))
			return nil
		}
		return fmt.Errorf("the plugin %s %s stays in the directory of this run: installing it for all runs: %w", plugin.name, plugin.version, err)
	})
	s.shareEach(ctx, s.wantedSchemas(), pluginName.schemaName, func(schema pluginName) error {
		if err := s.shareSchema(limited, schema); err != nil {
			return fmt.Errorf("the next run asks the provider %s %s for its schema again: keeping it for all runs: %w", schema.name, schema.version, err)
		}
		return nil
	})
}

// shareEach shares one after the other. What fails is not tried again for some time, nor is what there was no time for. If the
// run was cancelled, or its own time is over, that says nothing.
func (s *session) shareEach(ctx context.Context, all []pluginName, name func(pluginName) string, share func(pluginName) error) {
	for _, plugin := range all {
		err := share(plugin)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.say(err.Error())
			if err := s.driver.noteUnshared(name(plugin)); err != nil {
				s.say(err.Error())
			}
		}
	}
}

// wantedPlugins are those that this run had to download, and that may be there for all runs.
func (s *session) wantedPlugins() []pluginName {
	if !s.driver.hasOwnPlugins() {
		return nil
	}
	own, err := s.dir.ownPluginNames()
	if err != nil {
		return nil // the run did not get as far, or its program has removed them
	}
	shared, err := os.ReadDir(s.driver.sharedPlugins())
	if err != nil {
		s.say(fmt.Sprintf("looking for the plugins of all runs: %v", err))
		return nil
	}
	known := slices.DeleteFunc(namesOf(shared), func(name string) bool { return isPartial(s.driver.sharedPlugins(), name) })
	return slices.DeleteFunc(newPlugins(own, known), func(plugin pluginName) bool { return s.driver.isUnshared(plugin.dir()) })
}

// sharePlugin has the CLI install a plugin for all runs: from where this CLI knows that Pulumi publishes
// it, which does not take each name, or else from Pulumi's server.
func (s *session) sharePlugin(ctx context.Context, plugin pluginName) error {
	err := s.installShared(ctx, plugin)
	if err != nil && ctx.Err() == nil {
		err = s.installShared(ctx, plugin, "--server", pluginServer)
	}
	return err
}

func (s *session) installShared(ctx context.Context, plugin pluginName, flags ...string) error {
	args := append([]string{"plugin", "install", "--exact", plugin.kind, plugin.name, plugin.version}, flags...)
	if err := s.pluginStep(ctx, nil, sandbox.Writes(s.driver.sharedPlugins()), args...); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.driver.sharedPlugins(), plugin.dir())); err != nil {
		return fmt.Errorf("looking for it among the plugins of all runs: %w", err)
	}
	return nil
}

// pluginStep calls the CLI with the plugins of all runs, and with nothing of a program. The output is captured if
// there is a place for it.
func (s *session) pluginStep(ctx context.Context, output io.Writer, rules []sandbox.Rule, args ...string) error {
	dir := s.dir.pluginStep()
	defer func() { _ = remove(string(dir)) }() // it is removed with the run at the latest
	defer s.endLeftovers()                     // providers do not end with the CLI
	// The CLI looks for a project in each parent.
	const project = "name: plugins\nruntime: yaml\n"
	if err := errors.Join(dir.Make(), dir.shareCache(s.driver.Cache, "plugins"),
		os.WriteFile(filepath.Join(dir.Workspace(), "Pulumi.yaml"), []byte(project), 0o600)); err != nil {
		return err
	}
	last, err := s.driver.execute(ctx, command{
		args: append([]string{"--non-interactive", "--color=never"}, args...),
		dir:  dir.Workspace(), pids: os.DevNull, atOnce: true, capture: output,
		env:     append(s.driver.packEnvironment(dir, run.Run{ID: s.run.ID}), "PULUMI_DISABLE_REGISTRY_RESOLVE=true"),
		events:  &follower{events: &events{mask: s.mask}, say: s.say},
		sandbox: slices.Concat(sandbox.Writes(string(dir)), rules, s.driver.systemRules()),
	})
	switch {
	case err != nil:
		return err
	case last.code != 0:
		return errors.New(failureMessage(nil, last.stderr.masked(s.mask), last.code))
	}
	return nil
}

// unshared is the directory of the notes about plugins that could not be installed for all runs.
func (d *Driver) unshared() string { return filepath.Join(d.Cache, "plugins-not-shared") }

// isUnshared reports whether a plugin or a schema could not be kept for all runs a short while ago.
func (d *Driver) isUnshared(name string) bool {
	info, err := os.Lstat(filepath.Join(d.unshared(), name))
	return err == nil && time.Since(info.ModTime()) < unsharedFor
}

// noteUnshared notes that a plugin or a schema could not be kept for all runs.
func (d *Driver) noteUnshared(name string) error {
	notes, err := os.ReadDir(d.unshared())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("noting that a plugin is not shared: %w", err)
	}
	if len(notes) >= maxUnshared {
		if err := os.RemoveAll(d.unshared()); err != nil {
			return fmt.Errorf("removing notes of plugins that are not shared: %w", err)
		}
	}
	if err := os.MkdirAll(d.unshared(), 0o700); err != nil {
		return fmt.Errorf("noting that a plugin is not shared: %w", err)
	}
	path := filepath.Join(d.unshared(), name)
	if err := errors.Join(remove(path), os.WriteFile(path, nil, 0o600)); err != nil {
		return fmt.Errorf("noting that a plugin is not shared: %w", err)
	}
	return nil
}
