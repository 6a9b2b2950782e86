// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// heldThing is a resource of a random program.
type heldThing struct {
	// name is the version of its name, zero for one that the provider makes up.
	name int
	// value, tag and secret are the versions of those properties, zero for none.
	value, tag, secret int
	// of is the number of the resource from which the value is made, by the property by. None is -1.
	of int
	by string
	// after is the number of a resource that it depends on, -1 for none.
	after int
	// Options of the resource.
	deleteFirst, retain, protect bool
}

// heldProgram is a random program. Resources that are not there are nil. A resource depends on
// earlier ones only.
type heldProgram struct {
	things [4]*heldThing
	// outputs are the numbers of the resources whose properties are outputs, and constant is
	// the version of another one.
	outputs  [4]bool
	constant int
	secret   int
	// usesConfig is set if the tag of each resource is from the config.
	usesConfig bool
}

func randomProgram(random *rand.Rand) heldProgram {
	var p heldProgram
	for range 6 {
		p = p.changed(random)
	}
	return p
}

// changed is the program after a random change.
func (p heldProgram) changed(random *rand.Rand) heldProgram {
	n := random.IntN(len(p.things))
	if p.things[n] == nil {
		p.things[n] = randomThing(random, n)
		return p
	}
	one := *p.things[n]
	p.things[n] = &one
	next := random.IntN(1000) + 1
	switch random.IntN(13) {
	case 0:
		if !one.protect {
			p.things[n] = nil
		}
	case 1:
		if one.name > 0 && !one.protect {
			one.name = next
		}
	case 2, 3:
		one.value = next
	case 4:
		one.tag = next
	case 5:
		one.secret = next
	case 6:
		one.of, one.by = n-1, []string{"id", "name", "value"}[random.IntN(3)]
	case 7:
		p.outputs[n] = !p.outputs[n]
	case 8:
		p.constant = next
	case 9:
		p.secret = next
	case 10:
		p.usesConfig = !p.usesConfig
	case 11:
		one.protect = !one.protect
	case 12:
		one.retain = !one.retain
	}
	return p
}

func randomThing(random *rand.Rand, n int) *heldThing {
	return &heldThing{
		name: random.IntN(4), value: random.IntN(1000), tag: random.IntN(3), secret: random.IntN(3),
		of: random.IntN(n+1) - 1, by: []string{"id", "name", "value"}[random.IntN(3)], after: random.IntN(n+1) - 1,
		deleteFirst: random.IntN(4) == 0, retain: random.IntN(6) == 0, protect: random.IntN(8) == 0,
	}
}

func (p heldProgram) has(n int) bool { return n >= 0 && p.things[n] != nil }

// yaml is the text of the program.
func (p heldProgram) yaml(l *lab) string {
	var resources, outputs strings.Builder
	for n, one := range p.things {
		if one == nil {
			continue
		}
		_, _ = fmt.Fprintf(&resources, "  r%d:\n    type: lab:index:Thing\n    properties:\n", n)
		add := func(format string, values ...any) { _, _ = fmt.Fprintf(&resources, "      "+format+"\n", values...) }
		if one.name > 0 {
			add("name: r%d-%d", n, one.name)
		}
		if p.has(one.of) {
			add("value: \"v%d ${r%d.%s}\"", one.value, one.of, one.by)
		} else {
			add("value: v%d", one.value)
		}
		switch {
		case p.usesConfig:
			add("tags: {t: \"${setting}-%d\"}", one.tag)
		case one.tag > 0:
			add("tags: {t: t%d}", one.tag)
		}
		if one.secret > 0 {
			add("secretValue: {\"fn::secret\": \"s%d ${password}\"}", one.secret)
		}
		_, _ = fmt.Fprintf(&resources, "    options: {deleteBeforeReplace: %t, retainOnDelete: %t, protect: %t", one.deleteFirst, one.retain, one.protect)
		if p.has(one.after) {
			_, _ = fmt.Fprintf(&resources, ", dependsOn: [\"${r%d}\"]", one.after)
		}
		resources.WriteString("}\n")
		if p.outputs[n] {
			_, _ = fmt.Fprintf(&outputs, "  o%d: \"${r%d.name} ${r%d.value}\"\n", n, n, n)
		}
	}
	_, _ = fmt.Fprintf(&outputs, "  constant: c%d\n  hidden: {\"fn::secret\": h%d}\n", p.constant, p.secret)
	return "config:\n  setting: {type: string}\n  password: {type: string}\n" + l.thing() + resources.String() + "outputs:\n" + outputs.String()
}
