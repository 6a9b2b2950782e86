// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
)

// heldText is the plan of Pulumi for an update that is held to it. Some values are others in an update
// that does what was previewed, which would fail in the middle. The engine takes any value in the place
// of one that its plan does not know, and still checks every step and every other value.
func (found *goals) heldText() (string, error) {
	if !found.binding.newReferences && !found.binding.filesMayChange() {
		return found.text, nil
	}
	// The values that change, as they are in the plan. No name is any name.
	text, err := found.binding.open(json.RawMessage(found.text), [][]string{
		{"resourcePlans"}, nil, {"goal"}, {"inputDiff", "outputDiff"}, {"adds", "updates"}, nil,
	})
	if err != nil {
		return "", errNotPlan // the error may quote the text
	}
	return string(text), nil
}

// open opens what may be another value in the members with the names, of which the first are those of the
// value itself.
func (b binding) open(value json.RawMessage, names [][]string) (json.RawMessage, error) {
	switch {
	case !isFile(value) && !refersToResource(value):
		return value, nil
	case len(names) == 0 && b.isOpen(value):
		read, _ := decoded(value)
		return json.Marshal(b.opened(read))
	case len(names) == 0:
		return value, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		return nil, err
	}
	for name, member := range members {
		if names[0] != nil && !slices.Contains(names[0], name) {
			continue
		}
		opened, err := b.open(member, names[1:])
		if err != nil {
			return nil, err
		}
		members[name] = opened
	}
	return json.Marshal(members)
}

// opened is the value in which only the resources and files themselves are open: Pulumi compares what is
// beside them. A secret is JSON in a text, and so is open as a whole.
func (b binding) opened(value any) any {
	switch value := value.(type) {
	case []any:
		for n := range value {
			value[n] = b.opened(value[n])
		}
	case map[string]any:
		if _, signed := value[sig.Key]; signed {
			if b.isOpen(quote(value)) {
				return plugin.UnknownStringValue
			}
			return value
		}
		for name := range value {
			value[name] = b.opened(value[name])
		}
	}
	return value
}

// isOpen reports whether a value may be another one in the update: a resource that does not exist yet
// (pulumi/pulumi#16681), or a file that another resource may make, which is also the code of a function
// with values that are known only then (pulumi/pulumi#11587).
func (b binding) isOpen(value json.RawMessage) bool {
	return isNewReference(value) || (b.filesMayChange() && isFile(value))
}

func isFile(value json.RawMessage) bool {
	return bytes.Contains(value, []byte(sig.AssetSig)) || bytes.Contains(value, []byte(sig.ArchiveSig))
}

func refersToResource(value json.RawMessage) bool {
	return bytes.Contains(value, []byte(sig.ResourceReference))
}

// emptyID is that of a reference to a resource without an ID. A secret reference is JSON in a text.
var emptyID = regexp.MustCompile(`\\*"id\\*":\s*\\*"\\*"`)

// isNewReference reports whether a value refers to a resource without an ID.
func isNewReference(value json.RawMessage) bool {
	return refersToResource(value) && emptyID.Match(value)
}
