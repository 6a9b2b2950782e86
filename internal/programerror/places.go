// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"regexp"
	"strings"
)

// PathAlias is a directory of the run, and what a message has in its place.
type PathAlias struct{ Dir, As string }

// Here is the program's own directory: paths within it are relative.
const Here = "."

// Temp is the directory of temporary files, whose names are random.
const Temp = "$TMPDIR"

// Relative replaces the directories of a run, whose names are different for each run: the
// same failure has the same message each time.
func (p Program) Relative(text string) string {
	for _, place := range p.Places {
		within := place.As + "/"
		if place.As == Here {
			within = ""
		}
		text = strings.ReplaceAll(text, "file://"+place.Dir+"/", within)
		text = strings.ReplaceAll(text, place.Dir+"/", within)
		text = strings.ReplaceAll(text, place.Dir, place.As)
	}
	return inTemp().ReplaceAllLiteralString(text, Temp+"/...")
}

func inTemp() *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(Temp) + `/[^\s'"` + "`" + `:,;()<>]+`)
}
