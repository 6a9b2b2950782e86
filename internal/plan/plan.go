// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "encoding/json"

// The operations of steps, in the words of the engine, except OpRetain.
const (
	OpCreate  = "create"
	OpUpdate  = "update"
	OpReplace = "replace"
	OpDelete  = "delete"
	OpImport  = "import"
	// OpRetain is a resource that the stack does not manage any more, and that stays in place
	// because of retainOnDelete. Pulumi calls it a deletion.
	OpRetain = "retain"
	// OpSame is a resource of which only options change. Pulumi does not show it.
	OpSame = "same"
)

// The kinds of changes of a property, in the words of the engine.
const (
	KindAdd    = "add"
	KindUpdate = "update"
	KindDelete = "delete"
)

const (
	// Secret is shown in place of a secret value.
	Secret = "[secret]"
	// Unknown is shown in place of a value that is known only after the resources that it
	// depends on are created or updated.
	Unknown = "[unknown]"
)

// Plan is what an update or a destroy would do. Its texts are masked and bounded. Neither
// the revision of the program nor a time or run is part of it: the same change is the same
// plan, wherever it was made.
type Plan struct {
	// Destroy is set for the destroy of the whole stack.
	Destroy bool `json:"destroy,omitempty"`
	// Steps, in any order, at most one for each resource and operation.
	Steps []Step `json:"steps,omitempty"`
	// More counts the steps that were left out. MoreDigest keeps the digest of the plan the
	// same.
	More       Counts `json:"more,omitzero"`
	MoreDigest string `json:"moreDigest,omitempty"`
	// Outputs of the stack that would change, in any order. MoreOutputs is the number of those
	// that were left out, which are part of MoreOutputsDigest.
	Outputs           []Output `json:"outputs,omitempty"`
	MoreOutputs       int      `json:"moreOutputs,omitempty"`
	MoreOutputsDigest string   `json:"moreOutputsDigest,omitempty"`
	// Inputs is the digest of what the plan was made from: the program's content, config,
	// environment and options. State is the digest of the state that it starts from.
	Inputs string `json:"inputs,omitempty"`
	State  string `json:"state,omitempty"`
	// Versions of Pulumi and of the plugins, by name.
	Versions map[string]string `json:"versions,omitempty"`
	// Policies are the verdicts of policies, in any order. MorePolicies is the number of those that
	// were left out, and PoliciesDigest is then the DigestOfPolicies of all.
	Policies       []Policy `json:"policies,omitempty"`
	MorePolicies   int      `json:"morePolicies,omitempty"`
	PoliciesDigest string   `json:"policiesDigest,omitempty"`
	// Unbound says why Pulumi cannot be held to this plan by one of its own, "" if it can. It
	// is not part of the digest.
	Unbound string `json:"unbound,omitempty"`
	// Incomplete says of what a run has done that there may be more. It is not part of the digest either.
	Incomplete bool `json:"incomplete,omitempty"`
}

// Step is what would be done to one resource.
type Step struct {
	Op   string `json:"op"`
	URN  string `json:"urn"`
	Type string `json:"type"`
	// Provider is the URN of the provider, "" for a component.
	Provider string `json:"provider,omitempty"`
	// ID of the resource to import.
	ID string `json:"id,omitempty"`
	// DeleteFirst says of a replacement that the old resource is deleted before the new one is
	// created.
	DeleteFirst bool `json:"deleteFirst,omitempty"`
	// Failed says of a step that a run has done that it has failed. It may be partly done.
	Failed bool `json:"failed,omitempty"`
	// Digest is a keyed one of the texts of the step before they were masked or cut, "" if they
	// are shown as they are.
	Digest string `json:"digest,omitempty"`
	// Properties that change, in any order, or that a resource is created with. MoreProperties
	// is the number of those that were left out, which are part of MoreDigest.
	Properties     []Property `json:"properties,omitempty"`
	MoreProperties int        `json:"moreProperties,omitempty"`
	MoreDigest     string     `json:"moreDigest,omitempty"`
	// Options that change, or that a resource is created with, such as protect: they decide
	// what a later update may do to it.
	Options []Property `json:"options,omitempty"`
}

// Property is the change of one property of a resource.
type Property struct {
	// Path of the property, such as tags.env or rules[0].port.
	Path string `json:"path"`
	// Kind of change: add, update or delete.
	Kind string `json:"kind"`
	// Replaces says that the change forces the replacement of the resource.
	Replaces bool `json:"replaces,omitempty"`
	Change
}

// Output is the change of one output of the stack.
type Output struct {
	Name string `json:"name"`
	Change
}

// Change is the change of a value. Old and New are JSON to be shown, nil if there is no
// value: secrets in it are the string Secret, unknown values the string Unknown, and what
// is too long is cut.
type Change struct {
	Old json.RawMessage `json:"old,omitempty"`
	New json.RawMessage `json:"new,omitempty"`
	// Secret says that a part of the old or the new value is secret.
	Secret bool `json:"secret,omitempty"`
	// Digest is that of the old and the new value, and of the path or name, if what is shown is
	// not all of them. With secrets it is keyed, so that nobody can guess them.
	Digest string `json:"digest,omitempty"`
	// Rest is a keyed digest of what else changes with it, of values that are shown as they are: the
	// property that the path is a part of. Whoever reads the change can compute the digest from both.
	Rest string `json:"rest,omitempty"`
}

// Policy is the verdict of one policy.
type Policy struct {
	Pack    string `json:"pack"`
	Version string `json:"version,omitempty"`
	Name    string `json:"name"`
	// Level is the enforcement level, such as advisory or mandatory.
	Level string `json:"level"`
	// URN of the resource, "" for a verdict on the whole stack.
	URN string `json:"urn,omitempty"`
	// Message is for people, and not part of the digest: it may be another each time.
	Message string `json:"message,omitempty"`
}
