// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	sha1   = "67e2c98a60dc92283531412a9e604dd4bae005a9"
	sha256 = "e0f0b5f6d4c1ad3f2a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b"
)

// stackWith returns a Stack, with a Ready condition if a status is given.
func stackWith(name, revision string, suspended bool, ready metav1.ConditionStatus, message string) v1.Stack {
	stack := v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: name}}
	stack.Spec.Suspend = suspended
	stack.Status.LastAppliedRevision = revision
	if ready != "" {
		stack.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: ready, Message: message}}
	}
	return stack
}

func TestTheTableIsWrittenAsFluxWritesIt(t *testing.T) {
	for name, stacks := range map[string][]v1.Stack{
		// This is the table of flux2's cmd/flux/testdata/kustomization.
		"one": {stackWith("tkfg", "6.3.5@sha1:"+sha1, false, "True", "Applied revision: 6.3.5@sha1:"+sha1)},
		"many": {
			stackWith("new", "", false, "", ""),
			stackWith("greeting", "1@sha256:"+sha256, false, "True", "Applied revision: 1@sha256:"+sha256),
			stackWith("asleep", "main@sha1:"+sha1, true, "Unknown", "Running"),
			stackWith("broken", "main@sha1:"+sha1, false, "False", "Größe fehlt\n\tand more"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			rows := rowsOf(stacks)
			w := widths{}.fit(rows...)
			lines := []string{w.header()}
			for _, row := range rows {
				lines = append(lines, w.line(row))
			}
			golden, err := os.ReadFile("testdata/" + name + ".golden")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(strings.Join(lines, "\n") + "\n").To(Equal(string(golden)))
		})
	}
}

func TestTruncateHex(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a git commit":                      {"main@sha1:" + sha1, "main@sha1:67e2c98a"},
		"a digest":                          {"1@sha256:" + sha256, "1@sha256:e0f0b5f6"},
		"the longest there is":              {strings.Repeat("ab", 64), "abababab"},
		"two in one text":                   {sha1 + " and " + sha256, "67e2c98a and e0f0b5f6"},
		"39 digits are none":                {sha1[1:], sha1[1:]},
		"129 digits are none":               {strings.Repeat("a", 129), strings.Repeat("a", 129)},
		"a part of a longer word is none":   {"g" + sha1, "g" + sha1},
		"text without any is left as it is": {"waiting to be reconciled", "waiting to be reconciled"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(truncateHex(tt.text)).To(Equal(tt.want))
		})
	}
}

func TestALineFitsTheScreen(t *testing.T) {
	for name, tt := range map[string]struct {
		line  string
		width int
		want  string
	}{
		"tabs lead to the next stop":          {"a\tb\tc", 80, "a       b       c"},
		"a tab at a stop is a whole one":      {"12345678\tb", 80, "12345678        b"},
		"what is beyond the screen is cut":    {"NAME\tREVISION", 10, "NAME    RE"},
		"letters of many bytes count for one": {"Größe\tx", 80, "Größe   x"},
		"space at the end is left out":        {"a   \t", 80, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(onScreen(tt.line, tt.width)).To(Equal(tt.want))
		})
	}
}
