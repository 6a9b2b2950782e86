// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"regexp"
	"slices"
	"strings"
)

// untouched reports whether the engine has not reached any resource other than the
// stack's own.
func (e *events) untouched() bool {
	return !e.reached && len(e.failedCreates) == 0
}

// isAway recognizes that something on the network was unreachable or cannot serve now.
// The CLI, which has retried by itself, has no exit code for this: these are the texts
// of Go's network packages, and the status codes as printed for Pulumi Cloud and the
// object stores.
func isAway(message string) bool {
	return slices.ContainsFunc([]string{
		"connection refused", "connection reset by peer", "broken pipe", "no such host", "server misbehaving",
		"network is unreachable", "no route to host", "i/o timeout", "TLS handshake timeout", "tls: ", "x509: ",
		"context deadline exceeded", "Client.Timeout exceeded", "unexpected EOF", "server closed idle connection",
	}, func(text string) bool { return strings.Contains(message, text) }) ||
		strings.HasSuffix(message, ": EOF") || answersLater(message)
}

// answersLater recognizes the status codes 429 and 5xx: "[503] busy" of Pulumi Cloud,
// "StatusCode: 503" of S3, "Error 503" of Google Cloud and "RESPONSE 503" of Azure. 501
// means never.
func answersLater(message string) bool {
	status := regexp.MustCompile(`(?:^\[|StatusCode: |googleapi: Error |RESPONSE )(429|5\d\d)\b`).FindStringSubmatch(message)
	return status != nil && status[1] != "501"
}

// isRegistryAway recognizes a plugin that could not be downloaded because of the
// network. The CLI gives up a download only after five attempts and retries only
// transient errors: a plugin that does not exist fails at once, with 404.
func isRegistryAway(message string) bool {
	lookup := strings.Contains(message, "could not find latest version for provider") ||
		strings.Contains(message, "error downloading provider") || strings.Contains(message, "failed to download plugin")
	return lookup && (isAway(message) || strings.Contains(message, "failed all 5 attempts"))
}
