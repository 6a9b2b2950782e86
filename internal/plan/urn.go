// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "strings"

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
