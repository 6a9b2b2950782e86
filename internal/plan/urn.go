// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "strings"

// ResourceType returns the type of a resource, which is the last one in its URN, after those of its
// parents. It is empty for a URN with fewer parts.
func ResourceType(urn string) string {
	parts := strings.SplitN(urn, "::", 4)
	if len(parts) < 4 {
		return ""
	}
	return parts[2][strings.LastIndex(parts[2], "$")+1:]
}

// ResourceName returns the name of a resource, which is what follows its stack, project and type in
// its URN, and may have the separator in it. A URN of which a part is masked may have fewer parts.
func ResourceName(urn string) string {
	const separator = "::"
	if parts := strings.SplitN(urn, separator, 4); len(parts) == 4 {
		return parts[3]
	}
	if at := strings.LastIndex(urn, separator); at >= 0 {
		return urn[at+len(separator):]
	}
	return urn
}
