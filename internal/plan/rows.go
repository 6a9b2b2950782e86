// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// row is a line for people: the change of a resource, a property or an output.
type row struct {
	// depth is 0 for a resource, 1 for a property, and 2 for a part of its value.
	depth int
	// op colours the row: an operation, or the kind of a change.
	op string
	// sign is what Pulumi puts before the change, such as + or ~.
	sign, text string
}

// rows of a step and of what it changes.
func (s Step) rows(by wording) []row {
	text := visible(s.Type+" "+ResourceName(s.URN)) + " (" + visible(by.step(s)) + ")"
	rows := []row{{op: s.Op, sign: s.sign(), text: text}}
	if s.Failed {
		rows[0].op, rows[0].sign = OpDelete, "!" // red, like the verdict of a policy
	}
	for _, property := range s.Properties {
		var notes []string
		if property.Replaces {
			notes = append(notes, "forces replacement")
		}
		rows = append(rows, property.Change.rows(property.Path, property.Kind, notes...)...)
	}
	if s.MoreProperties > 0 {
		rows = append(rows, row{depth: 1, text: fmt.Sprintf("... %d more properties", s.MoreProperties)})
	}
	for _, option := range s.Options {
		rows = append(rows, option.Change.rows(option.Path, option.Kind, "option")...)
	}
	return rows
}

func (s Step) sign() string {
	switch {
	case s.Op == OpReplace && s.DeleteFirst:
		return "-+"
	case s.Op == OpReplace:
		return "+-"
	}
	return signOf(s.Op)
}

func signOf(op string) string {
	switch op {
	case OpCreate, KindAdd:
		return "+"
	case OpUpdate, OpSame:
		return "~"
	case OpDelete:
		return "-"
	case OpImport:
		return "="
	case OpRetain:
		return "<"
	}
	return "?"
}

func (s Step) what() string {
	switch {
	case s.Op == OpRetain:
		return "left in place because of retainOnDelete"
	case s.Op == OpSame:
		return "only options change"
	case s.Op == OpReplace && s.DeleteFirst:
		return "replace, the old one is deleted first"
	case s.Op == OpImport && s.ID != "":
		return "import of " + s.ID
	}
	return s.Op
}

// rows of the outputs that change.
func (p Plan) outputRows() []row {
	var rows []row
	for _, output := range p.Outputs {
		rows = append(rows, output.Change.rows(output.Name, output.kind())...)
	}
	if p.MoreOutputs > 0 {
		rows = append(rows, row{depth: 1, text: fmt.Sprintf("... %d more outputs", p.MoreOutputs)})
	}
	return rows
}

func (o Output) kind() string {
	switch {
	case o.Old == nil:
		return KindAdd
	case o.New == nil:
		return KindDelete
	}
	return KindUpdate
}

// rows of a change: of each member that differs, where both values are objects, and of each
// line that differs, where both are texts of several lines.
func (c Change) rows(path, kind string, notes ...string) []row {
	name, note := visible(path), c.note(notes)
	if kind == "" { // an earlier version knew no values
		return []row{{depth: 1, op: KindUpdate, sign: signOf(KindUpdate), text: name + note}}
	}
	head := row{depth: 1, op: kind, sign: signOf(kind), text: name + ": "}
	before, after := decode(c.Old), decode(c.New)
	switch {
	case kind == KindDelete:
		head.text += textOf(before)
	case kind == KindAdd || c.Old == nil:
		head.text += textOf(after)
	default:
		if lines := linesThatDiffer(before, after); len(lines) > 0 {
			head.text = name + ":" + note
			return append([]row{head}, lines...)
		}
		if members := membersThatDiffer(before, after); len(members) > 0 {
			head.text = name + ":" + note
			return append([]row{head}, members...)
		}
		head.text += textOf(before) + " => " + textOf(after)
	}
	head.text += note
	return []row{head}
}

// membersThatDiffer are rows of the members that differ in two objects, none for other
// values.
func membersThatDiffer(before, after any) []row {
	old, isObject := before.(map[string]any)
	now, both := after.(map[string]any)
	if !isObject || !both {
		return nil
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(now))
	slices.Sort(names)
	var rows []row
	for _, name := range slices.Compact(names) {
		was, had := old[name]
		is, has := now[name]
		one := row{depth: 2, op: KindUpdate, text: visible(name) + ": "}
		switch {
		case !had:
			one.op, one.text = KindAdd, one.text+textOf(is)
		case !has:
			one.op, one.text = KindDelete, one.text+textOf(was)
		case reflect.DeepEqual(was, is):
			continue
		default:
			one.text += textOf(was) + " => " + textOf(is)
		}
		one.sign = signOf(one.op)
		rows = append(rows, one)
	}
	return rows
}

// linesThatDiffer are rows of the lines of two texts without those that both begin and end
// with, none for other values and if both texts have a single line.
func linesThatDiffer(before, after any) []row {
	was, isText := before.(string)
	is, both := after.(string)
	if !isText || !both || (!isLong(was) && !isLong(is)) {
		return nil
	}
	old, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	first := 0
	for first < min(len(old), len(now)) && old[first] == now[first] {
		first++
	}
	last := 0
	for last < min(len(old), len(now))-first && old[len(old)-1-last] == now[len(now)-1-last] {
		last++
	}
	var rows []row
	if first > 0 {
		rows = append(rows, row{depth: 2, sign: " ", text: fmt.Sprintf("... %d lines", first)})
	}
	for _, line := range old[first : len(old)-last] {
		rows = append(rows, row{depth: 2, op: KindDelete, sign: "-", text: visible(line)})
	}
	for _, line := range now[first : len(now)-last] {
		rows = append(rows, row{depth: 2, op: KindAdd, sign: "+", text: visible(line)})
	}
	if last > 0 {
		rows = append(rows, row{depth: 2, sign: " ", text: fmt.Sprintf("... %d lines", last)})
	}
	return rows
}

// decode decodes a value, with numbers as they were written. What is not JSON stands for
// itself.
func decode(raw json.RawMessage) any {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return string(raw)
	}
	return value
}
