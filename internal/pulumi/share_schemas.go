// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// Pulumi YAML keeps the schemas of providers in files, since large providers take seconds to give theirs. A schema
// decides what is passed to a provider, so that in a sandbox, a run only reads those that all runs share, and has a
// directory of its own for what is missing. After the run, the controller asks the plugins of all runs for
// these: only their names come from the run.

// maxSchema bounds a schema, in bytes. The largest have 100 MB.
const maxSchema = 512 << 20

// sharedSchemas is the directory of the schemas that all runs read. It is not the one that programs could write to
// before there was a sandbox.
func (d *Driver) sharedSchemas() string { return filepath.Join(d.Cache, "provider-schemas") }

// schemaName is the name of the file in which Pulumi YAML looks for the schema of a provider.
func (n pluginName) schemaName() string { return n.name + "-" + n.version + ".json" }

// schemaNamed reads the name of the file of a schema. One of another source, or with parameters, has more in its name,
// which is then taken for a version that no plugin has.
func schemaNamed(file string) (pluginName, bool) {
	m := regexp.MustCompile(`^([a-z][a-z0-9-]*?)-(\d+\.\d+\.\d+.*)\.json$`).FindStringSubmatch(file)
	if m == nil {
		return pluginName{}, false
	}
	return pluginNamed("resource-" + m[1] + "-v" + m[2])
}

// hasSchema reports whether there is the schema of a provider that is installed for all runs, and whether it is
// not older than that.
func (d *Driver) hasSchema(plugin pluginName) bool {
	schema, err := os.Stat(filepath.Join(d.sharedSchemas(), plugin.schemaName()))
	installed, errPlugin := d.installed(plugin)
	return err == nil && errPlugin == nil && !schema.ModTime().Before(installed)
}

// installed is when a plugin was installed for all runs. It fails if it was not, or not completely.
func (d *Driver) installed(plugin pluginName) (time.Time, error) {
	var info unix.Stat_t
	if err := unix.Stat(filepath.Join(d.sharedPlugins(), plugin.dir()), &info); err != nil {
		return time.Time{}, err
	}
	if isPartial(d.sharedPlugins(), plugin.dir()) {
		return time.Time{}, fs.ErrNotExist
	}
	return time.Unix(info.Ctim.Unix()), nil
}

// linkSchemas makes the directory of the schemas of a run, with links to those that all runs share. It follows
// linkPlugins: Pulumi YAML takes no schema that is older than the directory of its plugin.
func (d *Driver) linkSchemas(dir Directory) error {
	if err := errors.Join(remove(dir.schemas()), os.Mkdir(dir.schemas(), 0o700), os.MkdirAll(d.sharedSchemas(), 0o700)); err != nil {
		return fmt.Errorf("linking the schemas of providers: %w", err)
	}
	entries, err := os.ReadDir(d.sharedSchemas())
	if err != nil {
		return fmt.Errorf("linking the schemas of providers: %w", err)
	}
	now := time.Now()
	for _, entry := range entries {
		plugin, ok := schemaNamed(entry.Name())
		if !ok || !d.hasSchema(plugin) {
			continue
		}
		path := filepath.Join(d.sharedSchemas(), entry.Name())
		if err := os.Chtimes(path, now, now); err != nil {
			continue // it is another user's, or was just removed: the run asks for it
		}
		if err := os.Symlink(path, filepath.Join(dir.schemas(), entry.Name())); err != nil {
			return fmt.Errorf("linking the schemas of providers: %w", err)
		}
	}
	return dir.linkInHome("schemas", dir.schemas())
}

// newSchemas are those among the schemas of a run that all runs do not have, and whose plugin they have. The names are
// what the program left.
func (d *Driver) newSchemas(names []string) []pluginName {
	var found []pluginName
	for _, name := range names {
		plugin, ok := schemaNamed(name)
		if !ok || d.hasSchema(plugin) || len(found) == maxSharedAtOnce {
			continue
		}
		if _, err := d.installed(plugin); err == nil {
			found = append(found, plugin)
		}
	}
	return found
}

// wantedSchemas are those that this run had to ask for, of plugins that all runs have.
func (s *session) wantedSchemas() []pluginName {
	own, err := namesIn(s.dir.schemas())
	if err != nil {
		return nil // the run did not get as far
	}
	return slices.DeleteFunc(s.driver.newSchemas(own), func(plugin pluginName) bool { return s.driver.isUnshared(plugin.schemaName()) })
}

// shareSchema asks a provider for its schema. The file is there as a whole or not at all.
func (s *session) shareSchema(ctx context.Context, plugin pluginName) error {
	file, err := os.CreateTemp(string(s.dir), "schema")
	if err != nil {
		return err
	}
	defer func() { _ = remove(file.Name()) }() // unless it was moved
	output := &limitedFile{file: file, left: maxSchema}
	err = s.pluginStep(ctx, output, sandbox.Reads(s.driver.sharedPlugins()), "package", "get-schema", plugin.name+"@"+plugin.version)
	if err = errors.Join(err, output.err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join(s.driver.sharedSchemas(), plugin.schemaName()))
}

// limitedFile keeps the first error, so that whoever writes is not held up.
type limitedFile struct {
	file *os.File
	left int
	err  error
}

func (l *limitedFile) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 && l.err == nil {
		l.err = fmt.Errorf("it has more than %d bytes", maxSchema)
	}
	if l.err == nil {
		_, l.err = l.file.Write(p)
	}
	return len(p), nil
}

// namesIn are the names in a directory, up to as many as are looked at.
func namesIn(dir string) ([]string, error) {
	file, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	names, err := file.Readdirnames(maxOwnPlugins)
	slices.Sort(names)
	return names, err
}
