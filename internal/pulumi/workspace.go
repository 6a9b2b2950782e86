// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxFile bounds the program files read here, such as Pulumi.yaml and
// Pulumi.<stack>.yaml.
const maxFile = 1 << 20

// workspaceError is a fault of the local disk, not of the program.
type workspaceError struct{ error }

func (e workspaceError) Unwrap() error { return e.error }

// prepared is a workspace in which the CLI can be started.
type prepared struct {
	// program is the directory of Pulumi.yaml.
	program string
	// stack is the stack name passed to the CLI.
	stack string
	// project is the project as in Pulumi.yaml.
	project run.Project
	// alwaysRefreshes is set if Pulumi refreshes by itself before it updates or previews,
	// because the project's options say so.
	alwaysRefreshes bool
	// secrets are those found in the program's text.
	secrets []string
	// secretsKnown is set if the masks know all secrets that the program gives to resources.
	secretsKnown bool
	// names are the output names found in the program's text.
	names writtenNames
	// needs describes the program's dependencies.
	needs needs
	// file is that of a program in Pulumi YAML, nil if it is not known.
	file *programFile
	// compiler prints the program in Pulumi YAML, "" for none.
	compiler string
	stackSettings
}

// prepare writes all files that the CLI needs.
func (d *Driver) prepare(ctx context.Context, dir Directory, r run.Run) (*prepared, error) {
	name, err := grammar.ParseStackName(r.Stack)
	if err != nil {
		return nil, err
	}
	if err := d.checkEnv(r); err != nil {
		return nil, err
	}
	if err := d.makeHome(dir); err != nil {
		return nil, workspaceError{err}
	}
	// The program decides which files are read and written here. The root keeps its
	// ".." and links away from the controller's files.
	root, err := os.OpenRoot(dir.Workspace())
	if err != nil {
		return nil, workspaceError{fmt.Errorf("opening the workspace: %w", err)}
	}
	defer func() { _ = root.Close() }() // nothing is buffered

	place, err := placeProject(root, r, name)
	if err != nil {
		return nil, err
	}
	p, err := place.prepared(dir, r, name)
	if err != nil {
		return nil, err
	}
	if !r.RunsProgram() {
		// The operation works from the state alone.
		return p, writeEnvironments(root, place, name.Stack, r)
	}
	return p, p.addProgram(ctx, root, place, name.Stack, r)
}

// checkEnv refuses variables that a run must not have.
func (d *Driver) checkEnv(r run.Run) error {
	if err := grammar.CheckEnv(r.Env); err != nil || !r.LoadsPolicies() {
		return err
	}
	return cmp.Or(grammar.CheckLoader(r.Env), grammar.CheckLoader(d.PassEnv))
}

// prepared is what is known of a run of the project in the directory before its program is read.
func (place placedProject) prepared(dir Directory, r run.Run, name grammar.StackName) (*prepared, error) {
	project := place.project
	p := &prepared{
		program: filepath.Join(dir.Workspace(), filepath.FromSlash(path.Dir(place.file))),
		project: run.Project{Name: project.Name.String(), Runtime: project.Runtime.Name()},
		needs:   needsOf(project),

		alwaysRefreshes: project.Options != nil && project.Options.Refresh == "always",
	}
	if known := r.Known.Name; known != "" && known != p.project.Name {
		return nil, fmt.Errorf("the project was %q when the stack was last updated, and is %q now: that is another stack, "+
			"and everything that %q manages would be left behind: change it back, which for a Program is its name or the project in spec.stack, "+
			"or set spec.destroyOnFinalize to false, delete this Stack and create another", known, p.project.Name, known)
	}
	var err error
	p.stack, err = name.Qualify(r.Backend, p.project.Name)
	return p, err
}

// addProgram reads the program, and writes the settings of its stack.
func (p *prepared) addProgram(ctx context.Context, root *os.Root, place placedProject, stack string, r run.Run) error {
	p.names = writtenNames{}
	texts := programTexts(root, place)
	for _, text := range texts {
		p.secrets = append(p.secrets, mask.InProgram(text)...)
		p.names.addProgram(text)
	}
	p.file, p.compiler = findProgram(root, place), compilerOf(place.project)
	var err error
	if p.stackSettings, err = writeStackFile(ctx, root, place, stack, keepTexts(place.project, p.file, r)); err != nil {
		return err
	}
	p.secretsKnown = knowsItsSecrets(place.project, texts) && !p.foreignSecrets
	return errors.Join(checkProgram(p.file, p.project.Name, r), checkShadowed(root, place, stack, r, p.file))
}

// makeHome makes the directories of a run, with what it gets of the cache.
func (d *Driver) makeHome(dir Directory) error {
	if err := dir.Make(); err != nil {
		return err
	}
	if d.Sandbox == nil {
		return dir.shareCache(d.Cache, "plugins", "schemas")
	}
	var err error
	if d.hasOwnPlugins() {
		err = dir.linkPlugins(d.sharedPlugins())
	} else {
		err = dir.shareCache(d.Cache, "plugins")
	}
	if err != nil {
		return err
	}
	return d.linkSchemas(dir)
}

// placedProject is a project with the path of its Pulumi.yaml in the workspace.
type placedProject struct {
	file    string
	project *workspace.Project
}

// placeProject loads the project that the program brings, or writes one.
func placeProject(root *os.Root, r run.Run, name grammar.StackName) (placedProject, error) {
	if r.NeedsArtifact() {
		return loadProject(root, r.Program.Artifact.Dir)
	}
	project, program := r.Project, r.Program
	if project.Name == "" {
		project.Name = name.Project
	}
	if !r.RunsProgram() {
		program = run.Program{} // Pulumi would ask what packages it uses
	}
	return writeProject(root, project, program)
}

// loadProject reads Pulumi.yaml in the directory only: the CLI would also search the
// parent directories.
func loadProject(root *os.Root, dir string) (placedProject, error) {
	return findProject(dir, func(file string) ([]byte, error) { return readBounded(root, file) })
}

// findProject is loadProject with what reads files of the source.
func findProject(dir string, read func(file string) ([]byte, error)) (placedProject, error) {
	for _, ext := range encoding.Exts {
		file := projectFile(dir, ext)
		text, err := read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return placedProject{}, err
		}
		project, err := workspace.LoadProjectBytes(text, file, encoding.Marshalers[ext])
		if err != nil {
			return placedProject{}, fmt.Errorf("the project file of the program: %w", err)
		}
		if project.Runtime.Name() == "" {
			// The CLI would take it for a program without resources and delete all
			// resources of the stack.
			return placedProject{}, fmt.Errorf("the project file of the program: %s names no runtime", file)
		}
		return placedProject{file: file, project: project}, nil
	}
	return placedProject{}, fmt.Errorf("no Pulumi.yaml in the directory %q of the program's source: "+
		"dir must name the directory that holds it; %s", path.Join("/", dir), run.LeftOutOfArtifacts)
}

// projectFile is a file that may describe the project in a directory of a source.
func projectFile(dir, ext string) string {
	return path.Join(".", path.Clean("/"+filepath.ToSlash(dir)), workspace.ProjectFile+ext)
}

// writeProject writes Pulumi.yaml, and next to it the text of a Program. In a file of
// its own, that text cannot override project settings such as the backend or a compiler
// to run.
func writeProject(root *os.Root, project run.Project, program run.Program) (placedProject, error) {
	if err := tokens.ValidateProjectName(project.Name); err != nil {
		return placedProject{}, fmt.Errorf("the name of the project, %q: %w: without one in spec.stack it is that of the Program, "+
			"set spec.stack to <organization>/<project>/<stack>", project.Name, err)
	}
	settings := &workspace.Project{Name: tokens.PackageName(project.Name)}
	fields := map[string]any{"name": project.Name}
	if project.Runtime != "" {
		settings.Runtime = workspace.NewProjectRuntimeInfo(project.Runtime, nil)
		fields["runtime"] = project.Runtime
	}
	if config := projectConfig(program.Config); len(config) > 0 {
		fields["config"] = config
	}
	text, err := encoding.YAML.Marshal(fields)
	if err != nil {
		return placedProject{}, fmt.Errorf("writing Pulumi.yaml: %w", err)
	}
	file := workspace.ProjectFile + ".yaml"
	if err := writeFile(root, file, text); err != nil {
		return placedProject{}, err
	}
	if program.YAML != nil {
		err = errors.Join(writeFile(root, "Main.yaml", program.YAML), writePackages(root, program.Packages))
	}
	return placedProject{file: file, project: settings}, err
}

func writeFile(root *os.Root, name string, text []byte) error {
	if err := root.WriteFile(name, text, 0o600); err != nil {
		return workspaceError{fmt.Errorf("writing the workspace: %w", err)}
	}
	return nil
}

// errTooBig says that a file of the program is bigger than what is read of it.
var errTooBig = errors.New("the file is too big")

// readBounded reads a program file of limited size.
func readBounded(root *os.Root, name string) ([]byte, error) {
	return readWithin(root, name, maxFile)
}

// readWithin waits for nobody who has put a pipe in the place of a file, as an installation can.
func readWithin(root *os.Root, name string, limit int) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("reading the program: %s is no file", name), err)
	}
	text, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	return within(text, name, limit)
}

// within returns the text of a program file, if it is not bigger than the limit.
func within(text []byte, name string, limit int) ([]byte, error) {
	if len(text) > limit {
		return nil, fmt.Errorf("reading the program: %w: %s has more than %d bytes", errTooBig, name, limit)
	}
	return text, nil
}
