// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"encoding/json"
	"fmt"
)

// A strategic merge searches for each member of a list in all members before it: merging
// 8,000 variables in 131 KiB took ten seconds of CPU time, at each reconcile of the
// Stack.
const (
	// maxTemplate bounds spec.workspaceTemplate, in bytes.
	maxTemplate = 64 << 10
	// maxList bounds each of its lists.
	maxList = 250
)

// checkLists refuses lists that are too long to merge.
func checkLists(field string, raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return &TemplateError{field, fmt.Sprintf("cannot be read: %v", err)}
	}
	if longest := longestList(value); longest > maxList {
		return &TemplateError{field, fmt.Sprintf("has a list of %d items, and at most %d are allowed: read many variables from a ConfigMap, by envFrom", longest, maxList)}
	}
	return nil
}

// longestList returns the length of the longest list in a value.
func longestList(value any) int {
	longest := 0
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			longest = max(longest, longestList(member))
		}
	case []any:
		longest = len(value)
		for _, member := range value {
			longest = max(longest, longestList(member))
		}
	}
	return longest
}
