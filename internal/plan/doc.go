// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan describes what an update or a destroy would do: to each resource, property
// by property, and to the outputs of the stack. A plan has a digest of its content, by
// which a person can approve it, and one rendering for people, in text and in Markdown.
//
// It is pure: values in, values out. It must not know how Pulumi reports a plan, where a
// plan is kept, who approves it or what follows from that. Its texts are masked before.
package plan
