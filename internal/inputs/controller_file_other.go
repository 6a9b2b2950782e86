// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package inputs

import "errors"

// readFile refuses: what only looks at Stacks is no controller, whose files these are.
func readFile(string) (string, error) {
	return "", errors.New("it is one of a controller, which is for Linux")
}
