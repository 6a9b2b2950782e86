// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"regexp"
	"slices"
	"strings"
)

// untouched tells that the engine has not come to any resource: the stack's own
// entry is none.
func (e *events) untouched() bool {
	return len(e.steps) == 0 && len(e.failedCreates) == 0
}

// isAway tells a message that something on the network was out of reach, or
// answered that it cannot serve now. The CLI has no exit code for it, and has
// tried some times itself: these are the words of Go's network packages, and the
// status codes as Pulumi Cloud and the object stores have them printed.
func isAway(message string) bool {
	return slices.ContainsFunc([]string{
		"connection refused", "connection reset by peer", "broken pipe", "no such host", "server misbehaving",
		"network is unreachable", "no route to host", "i/o timeout", "TLS handshake timeout", "tls: ", "x509: ",
		"context deadline exceeded", "Client.Timeout exceeded", "unexpected EOF", "server closed idle connection",
	}, func(text string) bool { return strings.Contains(message, text) }) ||
		strings.HasSuffix(message, ": EOF") || answersLater(message)
}

// answersLater recognizes the status codes 429 and 5xx: "[503] busy" of Pulumi
// Cloud, "StatusCode: 503" of S3, "Error 503" of Google Cloud and
// "RESPONSE 503" of Azure. 501 says that it will never be served.
func answersLater(message string) bool {
	status := regexp.MustCompile(`(?:^\[|StatusCode: |googleapi: Error |RESPONSE )(429|5\d\d)\b`).FindStringSubmatch(message)
	return status != nil && status[1] != "501"
}

// isRegistryAway recognizes a plugin that could not be downloaded because of the
// network. The CLI gives up a download only after five attempts, and tries again
// only what may pass: a plugin that is not there fails at once, with 404.
func isRegistryAway(message string) bool {
	lookup := strings.Contains(message, "could not find latest version for provider") ||
		strings.Contains(message, "error downloading provider") || strings.Contains(message, "failed to download plugin")
	return lookup && (isAway(message) || strings.Contains(message, "failed all 5 attempts"))
}
