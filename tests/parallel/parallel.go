// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package parallel says how many tests of a package run at a time. go test takes one for each processor, which is too few
// where tests mostly wait for processes. It knows nothing of what is tested.
package parallel

import (
	"flag"
	"fmt"
	"strconv"
)

// Tests is for TestMain. It parses the flags, and leaves a -parallel of the command line as it is.
func Tests(count int) error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	if err := flag.Set("test.parallel", strconv.Itoa(count)); err != nil {
		return fmt.Errorf("setting how many tests run at a time: %w", err)
	}
	return nil
}
