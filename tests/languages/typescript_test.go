// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import "testing"

func TestAProgramInTypeScript(t *testing.T) {
	t.Parallel()
	needsNode(t)
	lives(newProject(t, files(t, "typescript")))
}
