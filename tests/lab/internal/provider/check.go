// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	p "github.com/pulumi/pulumi-go-provider"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// partialCreate is the failure of a create once the thing exists.
const partialCreate = "partialCreate"

// afterCreate is the delay between the creation of a thing and the provider's answer.
const afterCreate = "afterCreate"

// maxDelay bounds a delay: one that is longer than any test is a mistake in the program.
const maxDelay = time.Hour

// check validates the inputs. nameKnown is false in a preview in which the name is the
// output of another resource.
func check(args Args, nameKnown bool) []p.CheckFailure {
	var failures []p.CheckFailure
	fail := func(property, format string, values ...any) {
		failures = append(failures, p.CheckFailure{Property: property, Reason: fmt.Sprintf(format, values...)})
	}
	if nameKnown {
		if err := cloud.CheckName(args.Name); err != nil {
			fail("name", "%v", err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(args.Delays)) {
		if !isOp(key) && key != afterCreate {
			fail("delays", "%q is not an operation: create, read, update, delete or afterCreate", key)
		}
		if _, err := parseDelay(args.Delays[key]); err != nil {
			fail("delays", "%s: %v", key, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(args.Ballast)) {
		if !isOp(key) {
			fail("ballast", "%q is not an operation: create, read, update or delete", key)
		}
		if _, err := parseBallast(args.Ballast[key]); err != nil {
			fail("ballast", "%s: %v", key, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(args.Failures)) {
		if !isOp(key) && key != partialCreate {
			fail("failures", "%q is not an operation: create, read, update, delete or partialCreate", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(args.Warnings)) {
		if !isOp(key) {
			fail("warnings", "%q is not an operation: create, read, update or delete", key)
		}
	}
	for property, op := range map[string]*string{"hang": args.Hang, "hold": args.Hold} {
		if op := valueOf(op); op != "" && !isOp(op) {
			fail(property, "%q is not an operation: create, read, update or delete", op)
		}
	}
	return failures
}

// maxBallast bounds the memory that an operation takes, in MiB.
const maxBallast = 4096

// parseBallast parses a number of MiB, such as 512Mi. An empty text is none. Without the
// unit, Pulumi YAML would make a number of a text in the config.
func parseBallast(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	number, ok := strings.CutSuffix(text, "Mi")
	mib, err := strconv.Atoi(number)
	if err != nil || !ok {
		return 0, fmt.Errorf("ballast %s is not a number of MiB such as 512Mi", text)
	}
	if mib < 0 || mib > maxBallast {
		return 0, fmt.Errorf("ballast %s is not between 0 and %dMi", text, maxBallast)
	}
	return mib, nil
}

func isOp(name string) bool {
	switch cloud.Op(name) {
	case cloud.Create, cloud.Read, cloud.Update, cloud.Delete:
		return true
	}
	return false
}

// parseDelay parses a delay. An empty text is none.
func parseDelay(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	delay, err := time.ParseDuration(text)
	if err != nil {
		return 0, err
	}
	if delay < 0 || delay > maxDelay {
		return 0, fmt.Errorf("delay %s is not between 0 and %s", text, maxDelay)
	}
	return delay, nil
}

// valueOf returns the value of a pointer, or the zero value.
func valueOf[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}
