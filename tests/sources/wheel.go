// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Wheel is a package of Python with a module of its name, which has a function main, and a command of its name that calls it.
// Its file is called WheelName.
func Wheel(name, version, module string) (string, error) {
	info := name + "-" + version + ".dist-info/"
	files := Files{
		name + "/__init__.py":     module,
		info + "METADATA":         fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version),
		info + "WHEEL":            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "entry_points.txt": fmt.Sprintf("[console_scripts]\n%s = %s:main\n", name, name),
	}
	files[info+"RECORD"] = strings.Join(slices.Collect(maps.Keys(files)), ",,\n") + ",,\n" + info + "RECORD,,\n"
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for name, text := range files {
		file, err := archive.Create(name)
		if err == nil {
			_, err = file.Write([]byte(text))
		}
		if err != nil {
			return "", fmt.Errorf("packing a wheel: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return "", fmt.Errorf("packing a wheel: %w", err)
	}
	return packed.String(), nil
}

// WheelName is the name of the file of such a package.
func WheelName(name, version string) string { return name + "-" + version + "-py3-none-any.whl" }
