// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// findProgram finds what a Program is to say in a file, or in one of a directory: a
// Pulumi.yaml, or the manifest of that Program. It returns the file too.
func (s *session) findProgram(ctx context.Context, path string, of client.ObjectKey) (program map[string]any, file string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", fmt.Errorf("reading the program: %w", err)
	}
	if !info.IsDir() {
		program, err = s.programIn(ctx, path, of)
		if err == nil && program == nil {
			err = fmt.Errorf("%s has no Program %s", path, of.Name)
		}
		return program, path, err
	}
	files, unread, err := s.programFiles(ctx, path)
	if err != nil {
		return nil, "", err
	}
	var found []string
	for _, candidate := range files {
		read, err := s.programIn(ctx, candidate, of)
		if err != nil {
			unread = cmp.Or(unread, err)
		}
		if read != nil {
			program, file = read, candidate
			found = append(found, filepath.Base(candidate))
		}
	}
	switch {
	case len(found) == 0 && unread != nil:
		return nil, "", unread
	case len(found) == 0:
		return nil, "", fmt.Errorf("%s has neither a Pulumi.yaml nor a file with the Program %s", path, of.Name)
	case len(found) == 1:
		if unread != nil {
			s.Warningf("ignored: %v", unread)
		}
		return program, file, nil
	}
	return nil, "", fmt.Errorf("%s has several files with the program, specify one of them: %s", path, shortList(found))
}

// programFiles returns the files of a directory that may contain a Program, each once. A
// project stands for its main file. unread is why a project is not readable as Pulumi
// YAML.
func (s *session) programFiles(ctx context.Context, dir string) (files []string, unread, err error) {
	all, err := yamlFiles(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, candidate := range all {
		base := filepath.Base(candidate)
		isProject := base == "Pulumi.yaml" || base == "Pulumi.yml"
		if !isProject && !s.mayHaveProgram(ctx, candidate) {
			continue
		}
		if isProject {
			if candidate, err = s.mainOfProject(ctx, candidate); err != nil {
				unread = cmp.Or(unread, err)
				continue
			}
		}
		if !slices.Contains(files, candidate) {
			files = append(files, candidate)
		}
	}
	return files, unread, nil
}

// mainOfProject returns the file that Pulumi reads the program of a Pulumi YAML project
// from.
func (s *session) mainOfProject(ctx context.Context, project string) (string, error) {
	text, err := s.readProgramFile(ctx, project)
	if err != nil {
		return "", err
	}
	fields, _, err := parseProject(text)
	if err != nil {
		return "", fmt.Errorf("%s is not YAML: %w", project, err)
	}
	if err := checkRuntime(project, fields); err != nil {
		return "", err
	}
	main, err := mainOf(project, fields)
	if err == nil && main != project && fields["config"] != nil {
		s.Warningf("ignoring the config of %s, because the program is in %s", project, main)
	}
	return main, err
}

func yamlFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	var files []string
	for _, entry := range entries {
		if ext := filepath.Ext(entry.Name()); entry.Type().IsRegular() && (ext == ".yaml" || ext == ".yml") {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	return slices.Sorted(slices.Values(files)), nil
}

// mayHaveProgram reports whether a file may contain a Program. Files that cannot be read
// are not this command's concern.
func (s *session) mayHaveProgram(ctx context.Context, file string) bool {
	text, err := s.readProgramFile(ctx, file)
	return err == nil && bytes.Contains(text, []byte(v1.GroupVersion.Group+"/")) && bytes.Contains(text, []byte(v1.ProgramKind))
}

// programIn reads that Program from a file of manifests, or a project. It is nil where
// there are other manifests alone. It reads the file once, because a pipe can be read
// only once.
func (s *session) programIn(ctx context.Context, file string, of client.ObjectKey) (program map[string]any, err error) {
	text, err := s.readProgramFile(ctx, file)
	if err != nil {
		return nil, err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return program, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		keys, err := topKeys(document)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s is not YAML: %w", file, err)
		case len(keys) == 0:
			continue
		case program == nil && !slices.Contains(keys, "apiVersion"):
			return s.programOfProject(file, text)
		}
		object := map[string]any{}
		if err := yaml.UnmarshalStrict(document, &object); err != nil {
			return nil, fmt.Errorf("%s is not YAML: %w", file, err)
		}
		found, err := programOf(object, file, of)
		switch {
		case err != nil:
			return nil, err
		case found != nil && program != nil:
			return nil, fmt.Errorf("%s has more than one Program %s", file, of.Name)
		case found != nil:
			program = found
		}
	}
}

// programOf is what the manifest says where it is that of the Program, in any version of
// its group. A manifest without a namespace may be of any.
func programOf(object map[string]any, file string, of client.ObjectKey) (map[string]any, error) {
	version, _ := object["apiVersion"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	if !strings.HasPrefix(version, v1.GroupVersion.Group+"/") || object["kind"] != v1.ProgramKind || metadata["name"] != of.Name {
		return nil, nil
	}
	if namespace, _ := metadata["namespace"].(string); namespace != "" && namespace != of.Namespace {
		return nil, nil
	}
	program, ok := object["program"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: Program %s has no program", file, of.Name)
	}
	return program, nil
}
