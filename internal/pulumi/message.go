// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// maxMessage bounds the message of a result and each logged line.
const maxMessage = 2 << 10

// tidy removes terminal colours, carriage returns and empty lines.
func tidy(text string) string {
	var kept []string
	for line := range strings.Lines(plain(text)) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// plain removes escape sequences and other control characters: programs colour their
// output whatever the flags of Pulumi say.
func plain(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		if rest, ok := afterEscape(text); ok {
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if r >= ' ' || r == '\n' || r == '\t' {
			out.WriteRune(r)
		}
		text = text[size:]
	}
	return out.String()
}

// afterEscape skips a sequence such as ESC [ 1 ; 31 m.
func afterEscape(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "\x1b[")
	if !ok {
		return text, false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return "", true
	}
	return rest[end+1:], true
}

// about prefixes a text with its resource, as <type> (<name>): text.
func about(urn, text string) string {
	if name := shortName(urn); name != "" {
		return name + ": " + text
	}
	return text
}

// shortName is the readable part of urn:pulumi:<stack>::<project>::<parent
// type>$<type>::<name>. It is empty for the stack itself, whose name adds nothing.
func shortName(urn string) string {
	kind, name := kindAndName(urn)
	if kind == "" || kind == stackType {
		return ""
	}
	return fmt.Sprintf("%s (%s)", kind, name)
}

func kindAndName(urn string) (kind, name string) {
	parts := strings.SplitN(urn, "::", 4)
	if len(parts) < 4 {
		return "", ""
	}
	return parts[2][strings.LastIndexByte(parts[2], '$')+1:], parts[3]
}

// packageOf is the package whose provider manages a resource, empty for the stack itself.
func packageOf(urn string) string {
	kind, _ := kindAndName(urn)
	if kind == stackType {
		return ""
	}
	if provider, isProvider := strings.CutPrefix(kind, "pulumi:providers:"); isProvider {
		return provider
	}
	of, _, _ := strings.Cut(kind, ":")
	return of
}

// isErrorLine reports whether a text claims to be an error.
func isErrorLine(text string) bool {
	return len(text) >= 6 && strings.EqualFold(text[:6], "error:")
}

// withoutError strips leading "error: ".
func withoutError(text string) string {
	for isErrorLine(text) {
		text = strings.TrimSpace(text[len("error:"):])
	}
	return text
}

// noReason ends the message of a failure without a known reason.
const noReason = " and gave no reason"

// failureMessage chooses the message of a failure: the first error that gives a reason.
// "update failed" gives none and is the last resort. If the events have no error, the
// CLI gave up before the engine started and said why on standard error.
func failureMessage(errors []diagnostic, stderr string, code int) string {
	for _, acceptable := range []func(diagnostic) bool{
		func(d diagnostic) bool { return !d.printed && !saysNothing(d.sign()) },
		func(d diagnostic) bool { return d.printed },
	} {
		for _, d := range errors {
			if acceptable(d) {
				return about(d.urn, withoutError(d.text))
			}
		}
	}
	if text := firstError(stderr); text != "" {
		return text
	}
	for _, d := range errors {
		return about(d.urn, withoutError(d.text))
	}
	return fmt.Sprintf("Pulumi ended with exit code %d", code) + noReason
}

// failureSign is the unmasked failure message, by which a failure is recognized.
func failureSign(errors []diagnostic, stderr string, code int) string {
	signs := make([]diagnostic, 0, len(errors))
	for _, d := range errors {
		signs = append(signs, diagnostic{urn: d.urn, text: d.sign(), printed: d.printed})
	}
	return failureMessage(signs, stderr, code)
}

func saysNothing(text string) bool {
	switch withoutError(text) {
	case "update failed", "destroy failed", "update canceled", "destroy canceled", "canceled", "BAIL: canceled":
		return true
	}
	return false
}

// firstError is the first error in the CLI's standard error, with its continuation
// lines.
func firstError(stderr string) string {
	var found []string
	for line := range strings.Lines(tidy(stderr)) {
		line = strings.TrimRight(line, "\n")
		if isErrorLine(line) && len(found) > 0 {
			break
		}
		if isErrorLine(line) || len(found) > 0 {
			found = append(found, line)
		}
	}
	return withoutError(strings.Join(found, "\n"))
}

// hint adds advice to a message that has none.
func hint(message string) string {
	for _, known := range []struct{ text, advice string }{
		{"no language plugin '", "the language host of the program's runtime is not installed beside Pulumi"},
		{"no resource plugin '", "the provider plugin is not installed, and was not downloaded"},
		{"could not find latest version for provider", "the provider plugin is not installed, and could not be downloaded"},
		{"passphrase must be set with", "give " + grammar.PassphraseVariable + " among the environment variables of the run"},
		{"incorrect passphrase", grammar.PassphraseVariable + " is not the passphrase that the stack was encrypted with"},
		{"unable to open state directory", "the backend cannot be opened: is it there, and may the pod that runs Pulumi use it?"},
		{"PULUMI_ACCESS_TOKEN must be set for login", "that is how Pulumi Cloud is used, which is the backend where nothing else is given: " +
			"is spec.backend, or PULUMI_BACKEND_URL, missing?"},
		{"Legacy DIY state is deprecated", "upgrade the backend with a Pulumi of your own, as long as no run is in flight: " +
			"PULUMI_BACKEND_URL=<backend> PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=1 pulumi state upgrade"},
		{"invalid ELF header", otherPlatform},
		{"wrong ELF class", otherPlatform},
		{"xec format error", otherPlatform},
		{"connection refused", "nothing answers at that address: is it right, and may the pod that runs Pulumi reach it?"},
		{"gave HTTP response to HTTPS client", "that server has no TLS: if it is the right one, write http:// before it in the URL"},
		{"no such host", unknownHost(message)},
	} {
		if strings.Contains(message, known.text) && !strings.Contains(message, known.advice) {
			return message + " (" + known.advice + ")"
		}
	}
	return message
}

// otherPlatform is the advice if an executable or a library cannot be loaded.
const otherPlatform = "it is for another platform than the machine that runs the program, as a node_modules or an executable in the source can be: " +
	"leave it out of the source, or build it for Linux and that architecture"

// unknownHost is advice for a host name that DNS does not know. The AWS SDK puts the bucket
// before the host of an endpoint unless it is configured not to.
func unknownHost(message string) string {
	const isRight = "is it right, and does DNS work in the pod that runs Pulumi?"
	if strings.Contains(message, "operation error S3") && !strings.Contains(message, ".amazonaws.com") {
		return "the name is not known: if it begins with that of the bucket, set s3ForcePathStyle=true in the URL of the backend; otherwise, " + isRight
	}
	return "the name is not known: " + isRight
}
