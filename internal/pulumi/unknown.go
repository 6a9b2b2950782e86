// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"slices"
	"strings"
)

// unknownCreates are the resources whose provider went away while it created
// them, or, in a run that was told to stop, gave up waiting for what it had begun.
// The engine takes that for a creation that failed and keeps no pending operation,
// but the resource may exist. The engine does not try again what has failed, so that
// what is unknown once stays so to the end of the operation.
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

// isProviderGone recognizes a call to a provider that its process did not live
// to answer. Pulumi has no word of its own for it: it is gRPC's code or, where
// Pulumi has taken that off, what gRPC says of a connection that breaks. One that
// cannot be made is another matter: the call was never sent.
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

// isCancelled recognizes a call that its provider gave up because it was told to,
// by gRPC's code or by the words of Go's context.
func isCancelled(text string) bool {
	return strings.Contains(text, "rpc error: code = Canceled") || strings.Contains(text, "context canceled")
}
