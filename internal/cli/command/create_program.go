// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// maxProgram is larger than any Kubernetes object may be.
const maxProgram = 4 << 20

func newCreateProgram(s *session, create *createFlags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "program [name]",
		Short: "Create or update a Program from a file of Pulumi YAML",
		Example: `  # Write the manifest of a Program
  flux pulumi create program words --from-file Pulumi.yaml --export > words.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := s.newObject(cluster.Program(), args, create)
			if err != nil {
				return err
			}
			ctx, cancel := s.limited(cmd)
			defer cancel()
			if object.Object["program"], err = s.readProgram(ctx, file); err != nil {
				return err
			}
			return s.create(ctx, object, "program", create.export)
		},
	}
	cmd.Flags().StringVar(&file, "from-file", "", "the Pulumi.yaml or Main.yaml to read; - is stdin")
	return cmd
}

func (s *session) readProgram(ctx context.Context, file string) (map[string]any, error) {
	if file == "" {
		return nil, errors.New("a file is required (--from-file)")
	}
	text, err := s.readProgramFile(ctx, file)
	if err != nil {
		return nil, err
	}
	return s.programOfProject(file, text)
}

// programOfProject returns the program in a project file without the keys that only a
// project has: a Program has its own name, and its settings are in the Stack.
func (s *session) programOfProject(file string, text []byte) (map[string]any, error) {
	program, more, err := parseProject(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not YAML: %w", file, err)
	}
	if err := checkRuntime(file, program); err != nil {
		return nil, err
	}
	if program["apiVersion"] != nil {
		return nil, fmt.Errorf("%s is a Kubernetes object, not a program: apply it as it is", file)
	}
	if more {
		return nil, fmt.Errorf("%s has several YAML documents, but a program is a single document", file)
	}
	if err := checkMain(file, program); err != nil {
		return nil, err
	}
	for _, key := range []string{"author", "license", "name", "runtime", "template", "website"} {
		delete(program, key)
	}
	var left []string
	for _, setting := range []string{"backend", "options", "stackConfigDir"} {
		if program[setting] != nil {
			left = append(left, setting)
			delete(program, setting)
		}
	}
	if len(left) > 0 {
		s.Warningf("ignoring %s of %s: the Stack decides how a Program is run", strings.Join(left, ", "), file)
	}
	return program, nil
}

// checkMain rejects a project whose program is in another file.
func checkMain(file string, project map[string]any) error {
	if file == "-" || project["main"] == nil && hasProgram(project) {
		return nil
	}
	main, err := mainOf(file, project)
	if err != nil {
		return err
	}
	switch {
	case filepath.Clean(file) == main:
	case hasProgram(project):
		return fmt.Errorf("main in %s makes Pulumi read the program from %s: give that file", file, main)
	default:
		return fmt.Errorf("%s has no program, it is in %s: give that file", file, main)
	}
	delete(project, "main")
	return nil
}

// hasProgram reports whether a project declares anything to run.
func hasProgram(project map[string]any) bool {
	return project["resources"] != nil || project["outputs"] != nil || project["variables"] != nil
}

// checkRuntime rejects a project that is not Pulumi YAML.
func checkRuntime(file string, project map[string]any) error {
	if runtime := runtimeOf(project); runtime != "" && runtime != "yaml" {
		return fmt.Errorf("%s is a project with the runtime %s, but a Program can only be Pulumi YAML: use a source instead", file, runtime)
	}
	return nil
}

// runtimeOf returns the runtime of a Pulumi.yaml, which is a name or an object with one.
func runtimeOf(program map[string]any) string {
	switch runtime := program["runtime"].(type) {
	case string:
		return runtime
	case map[string]any:
		name, _ := runtime["name"].(string)
		return name
	default:
		return ""
	}
}
