// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
)

// digestPrefix is the name of the algorithm of digests.
const digestPrefix = "sha256:"

// Digest is the digest of the plan's content, sha256:<hex>. It depends neither on the order
// of steps, properties and outputs nor on how much of them is left out or cut, and changes
// with anything else but Unbound, Incomplete and the messages of policies. Its bytes are pinned by a test: another digest
// of the same plan would make every approval void.
func (p Plan) Digest() string {
	return hash("plan", struct {
		Destroy                       bool
		Steps, Outputs, Inputs, State string
		Versions                      map[string]string
		Policies                      []string
	}{p.Destroy, digestOfSteps(p.Steps, p.MoreDigest), digestOfOutputs(p.Outputs, p.MoreOutputsDigest), p.Inputs, p.State,
		nonNil(p.Versions), p.digestsOfPolicies()})
}

// DigestOfPolicies is the digest of verdicts in any order, without their messages.
func DigestOfPolicies(verdicts []Policy) string {
	return hash("policies", digestsOf(verdicts, Policy.digest))
}

func (p Plan) digestsOfPolicies() []string {
	if p.MorePolicies > 0 {
		return []string{p.PoliciesDigest}
	}
	return digestsOf(p.Policies, Policy.digest)
}

func (v Policy) digest() string {
	v.Message = ""
	return hash("policy", v)
}

func digestOfSteps(steps []Step, rest string) string {
	return chain(inOrder(steps, Step.key, Step.digest), rest)
}

func digestOfOutputs(outputs []Output, rest string) string {
	return chain(inOrder(outputs, Output.key, Output.digest), rest)
}

func digestOfProperties(properties []Property, rest string) string {
	return chain(inOrder(properties, Property.key, Property.digest), rest)
}

// The keys by which lists are ordered.
func (s Step) key() string     { return s.URN + "\n" + s.Op }
func (p Property) key() string { return p.Path }
func (o Output) key() string   { return o.Name }

func (s Step) digest() string {
	properties := digestOfProperties(s.Properties, s.MoreDigest)
	s.Properties, s.MoreProperties, s.MoreDigest = nil, 0, properties
	if len(s.Options) > 0 {
		s.Options = []Property{{Change: Change{Digest: digestOfProperties(s.Options, "")}}}
	}
	return hash("step", s)
}

func (p Property) digest() string {
	p.Change = Change{Secret: p.Secret, Digest: p.Change.digest()}
	return hash("property", p)
}

func (o Output) digest() string {
	o.Change = Change{Secret: o.Secret, Digest: o.Change.digest()}
	return hash("output", o)
}

// digest is that of the values, which is the same once they are cut.
func (c Change) digest() string {
	if c.Digest != "" {
		return c.Digest
	}
	if c.Rest != "" {
		return hash("change in", [3]string{canonical(c.Old), canonical(c.New), c.Rest})
	}
	return hash("change", [2]string{canonical(c.Old), canonical(c.New)})
}

// member is a member of a list, with its place in the order and its digest.
type member[T any] struct {
	value       T
	key, digest string
}

// inOrder orders a list, also one whose members have the same key.
func inOrder[T any](list []T, key, digest func(T) string) []member[T] {
	members := make([]member[T], 0, len(list))
	for _, value := range list {
		members = append(members, member[T]{value, key(value), digest(value)})
	}
	slices.SortFunc(members, func(a, b member[T]) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.digest, b.digest)) })
	return members
}

// chain hashes a list from its end, so that its last members can be replaced with their
// digest, the rest.
func chain[T any](list []member[T], rest string) string {
	for _, one := range slices.Backward(list) {
		rest = hash("list", [2]string{one.digest, rest})
	}
	return rest
}

// digestsOf returns the sorted digests of a list in any order.
func digestsOf[T any](list []T, digest func(T) string) []string {
	all := make([]string, 0, len(list))
	for _, one := range list {
		all = append(all, digest(one))
	}
	slices.Sort(all)
	return all
}

// hash is the digest of a value, distinct from those of other kinds of values.
func hash(kind string, value any) string {
	text, _ := json.Marshal(value) // fails only for raw JSON, of which nothing that is hashed has any
	sum := sha256.Sum256(append([]byte("pulumi.com/"+kind+"\n"), text...))
	return digestPrefix + hex.EncodeToString(sum[:])
}

// canonical is the same text for the same JSON, however it is written. Numbers are as they
// were written. What is not JSON stands for itself.
func canonical(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "invalid " + string(raw)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return "invalid " + string(raw)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "invalid " + string(raw)
	}
	return string(text)
}

func nonNil(versions map[string]string) map[string]string {
	if versions == nil {
		return map[string]string{}
	}
	return versions
}
