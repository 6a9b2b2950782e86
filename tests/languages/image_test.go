// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"os"
	"testing"

	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// installSDK puts the packages of npm where programs find them if their own directory has none, as in an image with the SDK.
func (w *world) installSDK() error {
	sdk, err := toolchain.NodeModules()
	if err != nil {
		return nil // no packages of npm
	}
	return os.Symlink(sdk, w.Path("node_modules"))
}

// needsNode skips a test where the packages of npm are not installed.
func needsNode(t *testing.T) {
	t.Helper()
	if _, err := toolchain.NodeModules(); err != nil {
		t.Skip("the packages of programs in TypeScript are not installed: `make bin/nodejs` says why")
	}
}
