// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
)

// projectConfig is the project's config with values for providers. A Stack may override
// them.
func projectConfig(values map[string]any) map[string]any {
	config := map[string]any{}
	for name, value := range values {
		config[name] = map[string]any{"value": value}
	}
	return config
}

// sdksDir is where Pulumi YAML looks for the packages of a program.
const sdksDir = "sdks"

// writePackages writes the versions of packages where Pulumi YAML looks for them, each
// in a file like those of `pulumi package add`.
func writePackages(root *os.Root, versions map[string]string) error {
	if len(versions) == 0 {
		return nil
	}
	if err := root.Mkdir(sdksDir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return workspaceError{fmt.Errorf("writing the workspace: %w", err)}
	}
	for name, version := range versions {
		text, err := encoding.YAML.Marshal(map[string]any{"packageDeclarationVersion": 1, "name": name, "version": version})
		if err != nil {
			return fmt.Errorf("writing the version of package %s: %w", name, err)
		}
		if err := writeFile(root, path.Join(sdksDir, name+".yaml"), text); err != nil {
			return err
		}
	}
	return nil
}
