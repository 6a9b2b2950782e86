// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// reserved is the name under which a program can refer to its own run.
const reserved = "pulumi"

// maxNames bounds the names that one message lists.
const maxNames = 10

// undeclared lists the names that a program uses without declaring them, which the config
// of a Stack may have.
func undeclared(top *position) []string {
	declared := map[string]bool{reserved: true}
	for _, section := range []string{"config", "resources", "variables"} {
		top.get(section).entries(func(entry *position) { declared[entry.key] = true })
	}
	names := map[string]bool{}
	for _, section := range []string{"outputs", "resources", "variables"} {
		top.get(section).eachName(func(name string) {
			if !declared[name] {
				names[displayName(name)] = true
			}
		})
	}
	all := slices.Sorted(maps.Keys(names))
	return all[:min(len(all), maxNames)]
}

// eachName calls visit with the names that a value refers to, in its texts and keys.
func (p *position) eachName(visit func(name string)) {
	if p == nil {
		return
	}
	text, _ := p.text()
	for _, to := range accesses(text) {
		visit(to.RootName())
	}
	p.each(func(inner *position) {
		for _, to := range accesses(inner.key) {
			visit(to.RootName())
		}
		inner.eachName(visit)
	})
}

// displayName returns a name for display, quoted where blanks would be invisible.
func displayName(name string) string {
	if name == "" || strings.TrimSpace(name) != name {
		return strconv.Quote(name[:min(len(name), maxPath)])
	}
	return bounded.Line(name, maxPath)
}
