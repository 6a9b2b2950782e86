// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policytest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// maxFile bounds the files that are read here, in bytes.
const maxFile = 1 << 20

// notTheSecret is what a program gets for a secret of its config, whose key is elsewhere.
const notTheSecret = "[secret]"

// project is what a test has to know of Pulumi.yaml.
type project struct {
	Name      string `json:"name"`
	ConfigDir string `json:"stackConfigDir"`
}

func readProject(dir string) (project, error) {
	var read project
	for _, name := range []string{"Pulumi.yaml", "Pulumi.yml", "Pulumi.json"} {
		text, err := readFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return read, fmt.Errorf("reading the program: %w", err)
		}
		if err := yaml.Unmarshal(text, &read); err != nil {
			return read, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		if read.Name == "" {
			return read, fmt.Errorf("%s has no name", filepath.Join(dir, name))
		}
		return read, nil
	}
	return read, fmt.Errorf("no Pulumi.yaml in %s: --program must be the directory of a program", dir)
}

// config returns the file with the config of the stack, without what only its secrets provider can read.
func (p project) config(program, stack string) ([]byte, error) {
	path := filepath.Join(program, p.ConfigDir, "Pulumi."+stack+".yaml")
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte("config: {}\n"), nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the config of the stack: %w", err)
	}
	var read struct {
		Config map[string]any `json:"config"`
	}
	if err := yaml.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return yaml.Marshal(map[string]any{"config": withoutSecrets(read.Config)})
}

// withoutSecrets replaces each {secure: CIPHERTEXT}.
func withoutSecrets(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if _, isSecret := value["secure"].(string); isSecret && len(value) == 1 {
			return notTheSecret
		}
		for key := range value {
			value[key] = withoutSecrets(value[key])
		}
	case []any:
		for n := range value {
			value[n] = withoutSecrets(value[n])
		}
	}
	return value
}

// packPath returns what Pulumi loads as the pack: its directory, or the executable that it is. Only the controller starts such a
// pack by its directory.
func packPath(dir string) (string, error) {
	text, err := readFile(filepath.Join(dir, "PulumiPolicy.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no PulumiPolicy.yaml in %s: name the directory of a policy pack", dir)
	}
	if err != nil {
		return "", fmt.Errorf("reading the policy pack: %w", err)
	}
	var pack struct {
		Runtime any `json:"runtime"`
	}
	if err := yaml.Unmarshal(text, &pack); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, "PulumiPolicy.yaml"), err)
	}
	if runtime, ok := pack.Runtime.(map[string]any); ok && runtime["name"] == "go" {
		options, _ := runtime["options"].(map[string]any)
		if binary, _ := options["binary"].(string); binary != "" {
			dir = filepath.Join(dir, filepath.FromSlash(binary))
		}
	}
	return filepath.Abs(dir)
}

// readFile reads a file of limited size.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return text, err
}
