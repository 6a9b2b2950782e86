// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// PlanInputs is what a plan is made from, but for the program.
type PlanInputs struct {
	// Digest is the PlanDigest. It does not have the values of the controller itself, which could be
	// guessed from it.
	Digest string
	// Controller are those values, by what they are in the run. They must not be shown.
	Controller map[string]string
}

// Sum is the digest for the plan, with the key of the plan: another value of the controller is another
// plan, as another value of a Secret is. Without such values it is the Digest.
func (p PlanInputs) Sum(key string) string {
	if len(p.Controller) == 0 {
		return p.Digest
	}
	hash := hmac.New(sha256.New, []byte(key))
	_, _ = fmt.Fprintf(hash, "%s\n%s\n", controllerFormat, p.Digest) // a hash never fails
	for _, name := range slices.Sorted(maps.Keys(p.Controller)) {
		_, _ = fmt.Fprintf(hash, "%q=%q\n", name, p.Controller[name])
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// ofController are the values that were read from the controller itself, by what they are in a run.
func ofController(env, config map[string]value) map[string]string {
	found := map[string]string{}
	for what, values := range map[string]map[string]value{"variable ": env, "config ": config} {
		for name, v := range values {
			if v.controller != "" {
				found[what+name] = v.text
			}
		}
	}
	return found
}
