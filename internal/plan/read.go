// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"iter"
)

// UnmarshalJSON reads no more than the bounds of a plan: others can write one, and a few
// bytes of JSON become a whole step. It also reads what earlier versions wrote: steps with
// the paths of properties alone, and the number of steps that were left out.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type plain Plan
	read := struct {
		*plain
		Steps    json.RawMessage `json:"steps"`
		Outputs  json.RawMessage `json:"outputs"`
		Policies json.RawMessage `json:"policies"`
		LeftOut  int             `json:"leftOut"`
	}{plain: (*plain)(p)}
	err := json.Unmarshal(text, &read)
	if err == nil {
		p.Steps, err = first[Step](read.Steps, MaxSteps)
	}
	if err == nil {
		p.Outputs, err = first[Output](read.Outputs, MaxOutputs)
	}
	if err == nil {
		p.Policies, err = first[Policy](read.Policies, MaxPolicies)
	}
	p.More.Other += boundedCount(read.LeftOut)
	return err
}

// UnmarshalJSON reads no more properties than the bound, also of a step that an earlier
// version wrote.
func (s *Step) UnmarshalJSON(text []byte) error {
	type plain Step
	read := struct {
		*plain
		Properties json.RawMessage `json:"properties"`
		Options    json.RawMessage `json:"options"`
		Paths      json.RawMessage `json:"paths"`
	}{plain: (*plain)(s)}
	err := json.Unmarshal(text, &read)
	if err == nil {
		s.Properties, err = first[Property](read.Properties, MaxProperties)
	}
	if err == nil {
		s.Options, err = first[Property](read.Options, MaxOptions)
	}
	if err != nil {
		return err
	}
	paths, err := first[string](read.Paths, MaxProperties)
	for _, path := range paths {
		s.Properties = append(s.Properties, Property{Path: path})
	}
	return err
}

// first decodes the first members of a list. The text is valid JSON.
func first[T any](text json.RawMessage, most int) ([]T, error) {
	if len(text) == 0 || text[0] != '[' {
		return nil, nil
	}
	var list []T
	for member := range membersOf(text) {
		if len(list) == most {
			break
		}
		var one T
		if err := json.Unmarshal(member, &one); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// membersOf yields the members of a list. Nothing is copied, as each may be long.
func membersOf(text json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		depth, from, quoted, escaped := 0, 1, false, false
		for at, c := range text {
			switch {
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
			case c == '"':
				quoted = true
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth--
			}
			if depth > 1 || quoted || (depth == 1 && c != ',') {
				continue
			}
			if member := bytes.TrimSpace(text[from:at]); len(member) == 0 || !yield(member) || depth == 0 {
				return // after the last, also of none
			}
			from = at + 1
		}
	}
}
