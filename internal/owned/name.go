// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package owned names the objects that a Stack owns, for those who write them and those who read them.
package owned

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Name returns the name of an object of the Stack. A name that is too long is cut, and ends in a
// digest of the whole.
func Name(stack, suffix string) string {
	name := stack + suffix
	if len(name) <= validation.DNS1123SubdomainMaxLength {
		return name
	}
	sum := sha256.Sum256([]byte(stack))
	end := "-" + hex.EncodeToString(sum[:8]) + suffix
	kept := name[:validation.DNS1123SubdomainMaxLength-len(end)]
	if trimmed := strings.TrimRight(kept, "-."); strings.Contains(kept[len(trimmed):], ".") {
		kept = trimmed // no label of a name starts with a dash
	}
	return kept + end
}
