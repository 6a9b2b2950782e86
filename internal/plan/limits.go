// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// Limits bound a plan.
type Limits struct {
	// Steps, the properties of each, and outputs.
	Steps, Properties, Outputs int
	// Value bounds each old or new value, in bytes of JSON.
	Value int
}

// Within returns the plan within the limits, in order, with the same digest. What is beyond
// is counted, and values are cut.
func (p Plan) Within(most Limits) Plan {
	steps := inOrder(p.Steps, Step.key, Step.digest)
	if keep := max(0, most.Steps); len(steps) > keep {
		p.MoreDigest = chain(steps[keep:], p.MoreDigest)
		p.More = p.More.and(values(steps[keep:]))
		steps = steps[:keep]
	}
	p.Steps = values(steps)
	for n, step := range p.Steps {
		p.Steps[n] = step.within(most)
	}
	outputs := inOrder(p.Outputs, Output.key, Output.digest)
	if keep := max(0, most.Outputs); len(outputs) > keep {
		p.MoreOutputsDigest = chain(outputs[keep:], p.MoreOutputsDigest)
		p.MoreOutputs += len(outputs) - keep
		outputs = outputs[:keep]
	}
	p.Outputs = values(outputs)
	for n := range p.Outputs {
		p.Outputs[n].Change = p.Outputs[n].Change.within(most.Value)
	}
	return p
}

func (s Step) within(most Limits) Step {
	properties := inOrder(s.Properties, Property.key, Property.digest)
	if keep := max(0, most.Properties); len(properties) > keep {
		s.MoreDigest = chain(properties[keep:], s.MoreDigest)
		s.MoreProperties += len(properties) - keep
		properties = properties[:keep]
	}
	s.Properties = valuesWithin(properties, most.Value)
	s.Options = valuesWithin(inOrder(s.Options, Property.key, Property.digest), most.Value)
	return s
}

func valuesWithin(properties []member[Property], most int) []Property {
	all := values(properties)
	for n := range all {
		all[n].Change = all[n].Change.within(most)
	}
	return all
}

func (c Change) within(most int) Change {
	if len(c.Old) <= most && len(c.New) <= most {
		return c
	}
	c.Digest, c.Rest = c.digest(), ""
	c.Old, c.New = shortened(c.Old, most), shortened(c.New, most)
	return c
}

func values[T any](list []member[T]) []T {
	if len(list) == 0 {
		return nil
	}
	all := make([]T, 0, len(list))
	for _, one := range list {
		all = append(all, one.value)
	}
	return all
}

// shortened cuts a value: texts in it are cut, and of objects and lists the first members
// are left, as far as they fit.
func shortened(raw json.RawMessage, most int) json.RawMessage {
	if len(raw) <= most {
		return raw
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) == nil {
		// The quotes, names and signs around what is left take some of the bytes as well.
		for budget := most; budget >= 1; budget /= 2 {
			left := budget
			if text, err := json.Marshal(cut(value, &left)); err == nil && len(text) <= most {
				return text
			}
		}
	}
	return json.RawMessage(`"` + bounded.Sign + `"`)
}

// cut returns what of a value fits into the budget of bytes, which it takes it from.
func cut(value any, budget *int) any {
	switch value := value.(type) {
	case string:
		text := bounded.Text(value, max(len(bounded.Sign), *budget))
		*budget -= len(text)
		return text
	case []any:
		var kept []any
		for n, one := range value {
			if *budget <= 0 {
				return append(kept, more(len(value)-n))
			}
			kept = append(kept, cut(one, budget))
		}
		return kept
	case map[string]any:
		kept := map[string]any{}
		for n, name := range slices.Sorted(maps.Keys(value)) {
			if *budget <= 0 {
				kept[bounded.Sign] = more(len(value) - n)
				return kept
			}
			*budget -= len(name)
			kept[name] = cut(value[name], budget)
		}
		return kept
	}
	*budget -= len(fmt.Sprint(value))
	return value
}

func more(count int) string { return fmt.Sprintf("%d more", count) }
