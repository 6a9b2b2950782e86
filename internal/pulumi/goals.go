// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// goals are what a plan of Pulumi has that its events do not: values that are secret, or
// in which Pulumi has replaced a secret.
type goals struct {
	// changes are keyed hashes of the inputs of each resource that change, and outputs those of
	// the outputs of the stack that do.
	changes goalHashes
	outputs resourceHashes
	// names are those that providers have made up.
	names autonames
	// secrets are those in the plan, in plain text.
	secrets mask.StateSecrets
	// binding is what an update cannot be held to.
	binding binding
	// tooLarge is set if the plan is too large to keep, and text is the whole plan if the run may be
	// held to it.
	tooLarge bool
	text     string
}

// differsEachTime is why the plan would be another one each time that it is made, "" if it is not.
func (found *goals) differsEachTime() string {
	const rename = "set their names in the program, or split the stack into several"
	switch {
	case found == nil || !found.names.any():
		return "" // of a destroy, or without made-up names
	case found.tooLarge:
		return "the plan of Pulumi is larger than 64 MiB, and new resources in it have names that their providers make up, " +
			"others each time, which a plan of that size cannot distinguish: " + rename
	case len(found.names.byText) >= maxKeptGoals:
		return fmt.Sprintf("more than %d new resources have names that their providers make up, others each time: ", maxKeptGoals) + rename
	}
	return ""
}

// goalsReader reads a plan of Pulumi in JSON, with its secrets in plain text.
type goalsReader struct {
	read valueReader
	json *json.Decoder
	from *budget
	// names are known if this is the second time that the plan is read.
	names *autonames
}

// errNotPlan leaves out the error of the decoder, which may quote the text.
var errNotPlan = errors.New("the plan that Pulumi has saved cannot be read")

// readGoals keeps only hashes and the secrets, to be masked: a plan has the properties of
// all resources that change. Names that providers make up have the least number of random
// characters.
func readGoals(from io.Reader, read valueReader, least int) (*goals, error) {
	found := &goals{names: autonames{least: least}}
	return found, found.readFrom(from, goalsReader{read: read})
}

// readAgain has the hashes not depend on the names that providers make up: any resource may
// have the name of another one that comes later in the plan.
func (found *goals) readAgain(text string, read valueReader) error {
	if !found.names.settle() || text == "" {
		return nil
	}
	return found.readFrom(strings.NewReader(text), goalsReader{read: read, names: &found.names})
}

func (found *goals) readFrom(from io.Reader, r goalsReader) error {
	r.from = &budget{from: from}
	r.json = json.NewDecoder(r.from)
	found.changes, found.outputs = goalHashes{}, resourceHashes{}
	err := r.members(func(name string) error {
		if name != "resourcePlans" {
			return r.json.Decode(&json.RawMessage{})
		}
		return r.members(func(urn string) error { return r.add(found, urn) })
	})
	if err != nil {
		return errNotPlan
	}
	return nil
}

// members calls each with the name of every member of an object, to read its value.
func (r goalsReader) members(each func(name string) error) error {
	if begin, err := r.json.Token(); err != nil || begin != json.Delim('{') {
		return errNotPlan
	}
	for r.json.More() {
		name, err := r.json.Token()
		if err != nil {
			return err
		}
		r.from.read = 0
		if err := each(name.(string)); err != nil {
			return err
		}
	}
	_, err := r.json.Token()
	return err
}

func (r goalsReader) add(found *goals, urn string) error {
	var text json.RawMessage
	if err := r.json.Decode(&text); err != nil {
		return err
	}
	var planned resourcePlan
	if err := json.Unmarshal(text, &planned); err != nil {
		return err
	}
	if r.names == nil {
		if err := found.secrets.Add(text); err != nil {
			return err
		}
		found.binding.see(urn, planned)
		if planned.creates() {
			// The name of a replacement is in its state alone.
			found.names.learn(urn, planned.Seed, planned.Goal.InputDiff.Adds, planned.State)
		}
	}
	found.changes.add(r.read, urn, r.sums(planned.Goal.InputDiff.Adds, planned.Goal.InputDiff.Updates))
	if planned.Goal.Type == stackType {
		found.outputs = r.read.hashesOf(r.sums(planned.Goal.OutputDiff.Adds, planned.Goal.OutputDiff.Updates), maxKeptGoals)
	}
	return nil
}

func (r goalsReader) sums(all ...map[string]json.RawMessage) map[string]string {
	sums := map[string]string{}
	for _, properties := range all {
		for name, raw := range properties {
			value, _ := decoded(raw)
			text, err := json.Marshal(withoutPaths(value))
			if err != nil {
				text = raw
			}
			sums[name] = r.read.sum(r.names.sum(string(text)))
		}
	}
	return sums
}

// withoutPaths leaves of each asset and archive only its hash: the path of its files may
// differ from run to run.
func withoutPaths(value any) any {
	switch value := value.(type) {
	case []any:
		for n := range value {
			value[n] = withoutPaths(value[n])
		}
	case map[string]any:
		hash, _ := value["hash"].(string)
		if is := value[sig.Key]; hash != "" && (is == sig.AssetSig || is == sig.ArchiveSig) {
			return []any{is, hash}
		}
		for name := range value {
			value[name] = withoutPaths(value[name])
		}
	}
	return value
}
