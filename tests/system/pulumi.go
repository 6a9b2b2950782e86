// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// WritePulumi turns an existing directory into one for Options.PulumiDir. Its pulumi is a
// shell script that runs the given commands and then the real one. It lets the heaps of
// pulumi and its children grow: a call is over before there is much garbage, so that
// saves a tenth of the processor time. A benchmark must not use it.
func WritePulumi(dir, before string) error {
	real, err := process.FindBin("pulumi")
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n%s\nGOGC=400 GOMEMLIMIT=512MiB exec '%s' \"$@\"\n", before, real)
	if err := os.WriteFile(filepath.Join(dir, "pulumi"), []byte(script), 0o755); err != nil {
		return fmt.Errorf("writing a pulumi: %w", err)
	}
	host, err := process.FindBin("pulumi-language-yaml")
	if err != nil {
		return err
	}
	return os.Symlink(host, filepath.Join(dir, "pulumi-language-yaml"))
}
