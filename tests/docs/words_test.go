// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestPagesForUsersArePlain looks for words that the pages of Flux and Kubernetes do not have, and that stop a reader who has
// English as a second language. It is about what a new user reads, and not about code on these pages.
func TestPagesForUsersArePlain(t *testing.T) {
	g := NewWithT(t)
	_, texts := sources(t)
	words := regexp.MustCompile(`(?i)\b(?:told|somebody|goes on|go on|begun|anew|as when|that of|has yet to|let go of|takes? in)\b`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	var found []string
	read := 0
	for page, text := range texts {
		if !regexp.MustCompile(`^(?:README\.md|examples/.*|docs/(?:README|comparison|installation|faq|upgrading|migration)\.md|docs/(?:guides|migration)/.*)$`).MatchString(page) {
			continue
		}
		read++
		prose := strings.Join(strings.Fields(code.ReplaceAllString(text, "code")), " ")
		for _, word := range words.FindAllString(prose, -1) {
			found = append(found, page+": "+word)
		}
	}
	g.Expect(found).To(BeEmpty())
	g.Expect(read).To(BeNumerically(">=", 40))
}
