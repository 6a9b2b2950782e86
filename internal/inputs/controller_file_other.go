// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package inputs

import "errors"

// readFile always fails: other platforms only run the CLI, which has no controller files
// to read.
func readFile(string) (string, error) {
	return "", errors.New("files of the controller can only be read on Linux")
}
