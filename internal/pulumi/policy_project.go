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

	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// policyFile describes a policy pack. Pulumi reads no other name.
const policyFile = "PulumiPolicy.yaml"

// packProject is what the controller has to know of the file.
type packProject struct {
	// dir is its directory in the source, without a slash at the beginning.
	dir     string
	runtime workspace.ProjectRuntimeInfo
	main    string
	// all is all that it says.
	all map[string]any
}

// readPack reads the PulumiPolicy.yaml of a directory in a source.
func readPack(root *os.Root, dir string) (packProject, error) {
	p := packProject{dir: path.Join(".", path.Clean("/"+filepath.ToSlash(dir)))}
	text, err := readBounded(root, p.file())
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("no %s in the directory %q of its source: dir must name the directory that holds it; %s",
			policyFile, path.Join("/", dir), run.LeftOutOfArtifacts)
	}
	if err != nil {
		return p, err
	}
	var known struct {
		Runtime workspace.ProjectRuntimeInfo `yaml:"runtime"`
		Main    string                       `yaml:"main"`
	}
	if err := errors.Join(encoding.YAML.Unmarshal(text, &known), encoding.YAML.Unmarshal(text, &p.all)); err != nil {
		return p, fmt.Errorf("%s: %w", policyFile, err)
	}
	if known.Runtime.Name() == "" {
		return p, fmt.Errorf("%s names no runtime", policyFile)
	}
	p.runtime, p.main = known.Runtime, known.Main
	return p, nil
}

func (p packProject) file() string { return path.Join(p.dir, policyFile) }

// needs are the dependencies of the pack, as those of a program.
func (p packProject) needs() needs {
	return needsOf(&workspace.Project{Runtime: p.runtime, Main: p.main})
}

// executable returns the path of the executable that the pack is. A Bucket keeps no permissions.
func (p packProject) executable(root *os.Root) (string, error) {
	name, _ := p.runtime.Options()["binary"].(string)
	file := path.Join(p.dir, filepath.ToSlash(name))
	info, err := root.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the option binary of the runtime in %s is %q, which is not in the source; %s", policyFile, name, run.LeftOutOfArtifacts)
	case err == nil && !info.Mode().IsRegular():
		return "", fmt.Errorf("the option binary of the runtime in %s is %q, which is no file", policyFile, name)
	case err == nil:
		err = root.Chmod(file, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("the option binary of the runtime in %s is %q: %w", policyFile, name, err)
	}
	return filepath.Join(root.Name(), filepath.FromSlash(file)), nil
}

// setVersion sets the version of the pack in the file. Pulumi reports it with each violation.
func (p packProject) setVersion(root *os.Root, version string) error {
	p.all["version"] = version
	text, err := encoding.YAML.Marshal(p.all)
	if err != nil {
		return fmt.Errorf("%s: %w", policyFile, err)
	}
	return writeFile(root, p.file(), text)
}

// packVersion is the version with which Pulumi reports what a pack has found. Two packs may have
// the same name and version in Pulumi, such as one that two PolicySets have with other configs.
func packVersion(pack run.PolicyPack) string { return pack.Set + "/" + pack.Name }
