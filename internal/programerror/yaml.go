// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"regexp"
)

// yamlError reads an error of Pulumi YAML: what is wrong, then the position and the line
// of the program.
func yamlError(lines []string) (cause, bool) {
	position := regexp.MustCompile(`^\s*on (\S+) line (\d+)(?:, in .*)?:$`)
	var found cause
	for _, line := range lines {
		if m := position.FindStringSubmatch(line); m != nil && found.at == "" {
			found.at = m[1] + ":" + m[2]
			continue
		}
		found.text = append(found.text, line)
	}
	return found, found.at != "" && len(found.text) > 0
}
