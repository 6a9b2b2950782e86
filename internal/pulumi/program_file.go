// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"gopkg.in/yaml.v3"
)

// programNames are the files in which Pulumi YAML looks for a program. It runs the first
// that exists.
func programNames() []string { return []string{"Main.json", "Main.yaml", "Pulumi.yaml"} }

// isInterpreted reports whether Pulumi YAML runs the program from a file. A compiler writes
// the program during the run.
func isInterpreted(project *workspace.Project) bool {
	return project.Runtime.Name() == yamlRuntime && compilerOf(project) == ""
}

// compilerOf returns the command that prints the program of a project in Pulumi YAML, ""
// for none.
func compilerOf(project *workspace.Project) string {
	compiler := project.Runtime.Options()["compiler"]
	if compiler == nil || project.Runtime.Name() != yamlRuntime {
		return ""
	}
	return fmt.Sprint(compiler)
}

// programDir is the directory of a program in the workspace: that of the project, or the
// one that main of Pulumi.yaml names, directly or through a file in it.
func programDir(root *os.Root, dir, main string) (string, error) {
	main = filepath.ToSlash(main)
	if main == "" {
		return dir, nil
	}
	if path.IsAbs(main) {
		return "", errors.New("main is not in the workspace")
	}
	dir = path.Join(dir, main)
	info, err := root.Stat(dir)
	if err == nil && !info.IsDir() {
		return path.Dir(dir), nil
	}
	return dir, err
}

// programFile is the file that Pulumi YAML runs.
type programFile struct {
	// dir is where Pulumi YAML looks for the file, in the workspace. It may be missing.
	dir     string
	missing bool
	// outside is set if dir is not in the workspace, and no program is there.
	outside bool
	// name of the file, "" if there is none, and its text, unless that is too big.
	name   string
	text   []byte
	tooBig bool
	sections
	// misnamed is a file that may be meant, if there is nothing to run, and rightName the
	// name with which it would be run.
	misnamed, rightName string
	// hidden is a file with a program, which Pulumi YAML does not read because of this one.
	hidden string
}

// maxProgram bounds the file that Pulumi YAML runs, in bytes.
const maxProgram = 4 << 20

// findProgram returns the file that Pulumi YAML runs. The result is nil for other programs,
// for those that are not in the workspace, and for a file that cannot be read: Pulumi
// reports what is wrong with it.
func findProgram(root *os.Root, place placedProject) *programFile {
	if !isInterpreted(place.project) {
		return nil
	}
	dir, err := programDir(root, path.Dir(place.file), place.project.Main)
	if err != nil {
		switch main := place.project.Main; {
		case errors.Is(err, fs.ErrNotExist):
			return &programFile{dir: dir, missing: true}
		case (filepath.IsAbs(main) || !filepath.IsLocal(filepath.Join(path.Dir(place.file), main))) && !isProgram(main):
			return &programFile{dir: main, outside: true}
		}
		return nil
	}
	found := &programFile{dir: dir}
	for _, name := range programNames() {
		text, err := readWithin(root, path.Join(dir, name), maxProgram)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, errTooBig) {
			return &programFile{dir: dir, name: name, tooBig: true}
		}
		sections, ok := sectionsOf(text)
		if err != nil || !ok {
			return nil
		}
		found.name, found.text, found.sections = name, text, sections
		break
	}
	if found.hasNothing() {
		found.hidden = hiddenBy(root, found)
		found.misnamed, found.rightName = misnamed(root, dir)
	}
	return found
}

// isProgram reports whether a program that Pulumi YAML would run is at an absolute path, such
// as in an image.
func isProgram(main string) bool {
	if info, err := os.Stat(main); err == nil && !info.IsDir() {
		main = filepath.Dir(main)
	}
	return filepath.IsAbs(main) && slices.ContainsFunc(programNames(), func(name string) bool { return exists(filepath.Join(main, name)) })
}

// hiddenBy returns the file that Pulumi YAML would run if the one found did not exist.
func hiddenBy(root *os.Root, found *programFile) string {
	names := programNames()
	for _, name := range names[slices.Index(names, found.name)+1:] {
		text, err := readWithin(root, path.Join(found.dir, name), maxProgram)
		if sections, ok := sectionsOf(text); err == nil && ok && !sections.hasNothing() {
			return name
		}
	}
	return ""
}

// misnamed returns a file that Pulumi YAML would run if it had another name, and that name.
// Capital letters make no difference on the disks of some laptops.
func misnamed(root *os.Root, dir string) (name, right string) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return "", ""
	}
	rightNames := map[string]string{
		"main.json": "Main.json", "main.yaml": "Main.yaml", "main.yml": "Main.yaml",
		"pulumi.json": "Pulumi.yaml", "pulumi.yaml": "Pulumi.yaml", "pulumi.yml": "Pulumi.yaml",
	}
	for _, entry := range entries {
		right := rightNames[strings.ToLower(entry.Name())]
		if right == "" || right == entry.Name() {
			continue
		}
		text, err := readBounded(root, path.Join(dir, entry.Name()))
		if sections, ok := sectionsOf(text); err == nil && ok && !sections.hasNothing() {
			return entry.Name(), right
		}
	}
	return "", ""
}

// sections are those of a program in Pulumi YAML.
type sections struct {
	// resources are the names of the resources. It is nil if the program does not say what
	// resources it has: an empty section says that it has none.
	resources map[string]bool
	// values is set if it has variables or outputs.
	values bool
}

// hasNothing reports whether there is nothing to run, and that is not said on purpose.
func (s sections) hasNothing() bool { return s.resources == nil && !s.values }

// sectionsOf reads a program node by node, as Pulumi YAML does, which accepts the names of
// sections in capital letters, takes the last of two with the same name, and knows no merge
// keys. An empty section that hides another one says nothing. It returns false if Pulumi YAML
// cannot run the text.
func sectionsOf(text []byte) (sections, bool) {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return sections{}, false
	}
	var read sections
	var hides bool
	top := document.Content[0].Content
	for n := 0; n+1 < len(top); n += 2 {
		name, section := top[n].Value, top[n+1]
		switch {
		case strings.EqualFold(name, "resources"):
			if section.Kind != yaml.MappingNode && section.ShortTag() != "!!null" {
				return sections{}, false
			}
			read.resources = keysOf(section)
			if hides && len(read.resources) == 0 {
				read.resources = nil
			}
			hides = true
		case strings.EqualFold(name, "variables"), strings.EqualFold(name, "outputs"):
			read.values = read.values || len(section.Content) > 0
		}
	}
	return read, true
}

// keysOf returns the keys of a mapping, nil if it is none.
func keysOf(mapping *yaml.Node) map[string]bool {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	keys := make(map[string]bool)
	for n := 0; n+1 < len(mapping.Content); n += 2 {
		keys[mapping.Content[n].Value] = true
	}
	return keys
}
