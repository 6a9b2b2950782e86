// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// minLine is the shortest line of a secret of many lines that is masked by
// itself, in bytes. The braces of a JSON key file are lines too, and a text
// without any brace is unreadable.
const minLine = 8

// alwaysSecret says that the value of a variable is a secret even if it is
// written in the spec: with it alone, others can read the secrets of the stack.
func alwaysSecret(variable string) bool {
	return variable == "PULUMI_CONFIG_PASSPHRASE" || variable == "PULUMI_ACCESS_TOKEN"
}

// masksOf returns the texts that would show one of the values: the value, the
// value without the white space around it (the newline that ends most files),
// the value as JSON writes it, and each line of it, since programs log line by
// line. They are unique and not empty, the longest first: a mask that is part
// of another one, used before it, would leave the rest of that one to be seen.
// Their number is bounded by maxValues, the bound of the values.
func masksOf(values []string) []string {
	unique := map[string]bool{}
	for _, value := range values {
		trimmed := strings.TrimSpace(value)
		unique[value] = true
		unique[trimmed] = true
		unique[jsonText(trimmed)] = true
		if !strings.ContainsAny(trimmed, "\r\n") {
			continue
		}
		for line := range strings.SplitSeq(trimmed, "\n") {
			if line = strings.TrimSpace(line); len(line) >= minLine {
				unique[line] = true
			}
		}
	}
	delete(unique, "")
	masks := make([]string, 0, len(unique))
	for mask := range unique {
		masks = append(masks, mask)
	}
	slices.SortFunc(masks, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return masks
}

// jsonText is a text as it stands between the quotes of a JSON string.
func jsonText(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return "" // Not possible for a string, and no mask is lost but this one.
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}
