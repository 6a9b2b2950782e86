// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"slices"
	"strings"
)

// unknownCreates are the resources whose provider went away while creating them or, in
// a run that was asked to stop, gave up waiting. The engine counts these as failed
// creations and keeps no pending operation, but the resource may exist. The engine does
// not retry failures, so an unknown outcome stays unknown to the end of the operation.
func (e *events) unknownCreates(stopped bool) []string {
	var unknown []string
	for urn := range e.failedCreates {
		if e.providerGone[urn] || (stopped && e.cancelled[urn]) {
			unknown = append(unknown, urn)
		}
	}
	return unknown
}

func note(set *map[string]bool, urn string) {
	if *set == nil {
		*set = make(map[string]bool)
	}
	(*set)[urn] = true
}

// isProviderGone recognizes a provider call that the provider's process did not live to
// answer. Pulumi has no text of its own for it: it shows gRPC's code or, where Pulumi
// strips that, gRPC's text for a broken connection. A failed dial is different: the
// call was never sent.
func isProviderGone(text string) bool {
	if strings.Contains(text, "transport: Error while dialing") {
		return false
	}
	return slices.ContainsFunc([]string{
		"rpc error: code = Unavailable",
		"error reading from server: ",
		"closing transport due to: ",
		"transport is closing",
		"the connection is draining",
	}, func(sign string) bool { return strings.Contains(text, sign) })
}

// isCancelled recognizes a call that its provider gave up on request, by gRPC's code or
// the text of Go's context.
func isCancelled(text string) bool {
	return strings.Contains(text, "rpc error: code = Canceled") || strings.Contains(text, "context canceled")
}

// leftCreates are the resources of the creations in flight in the state that an operation
// starts from. The engine warns of them before it runs the program, and creates the
// resources again. It does not warn if it refreshes first.
func leftCreates(warning string) []string {
	if !strings.HasPrefix(warning, "Attempting to deploy or update resources with ") {
		return nil
	}
	var urns []string
	for line := range strings.Lines(warning) {
		operation, found := strings.CutPrefix(line, "  * ")
		if urn, creates := strings.CutSuffix(strings.TrimSpace(operation), ", interrupted while creating"); found && creates {
			urns = append(urns, urn)
		}
	}
	return urns
}
