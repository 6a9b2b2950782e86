// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestReportOfLanguages(t *testing.T) {
	measured := func(bare, stacks time.Duration) pair {
		return pair{bare: took(bare, bare/2, 0), controller: took(stacks, stacks/2, time.Second)}
	}
	taken := languageSample{language: language{title: "TypeScript", installing: "`npm ci`"}, installed: took(8*time.Second, 9*time.Second, 0)}
	taken.acts[firstRun] = []pair{measured(4*time.Second, 10*time.Second)}
	taken.acts[otherConfig] = []pair{
		measured(2*time.Second, 4*time.Second), measured(4*time.Second, 6*time.Second), measured(40*time.Second, 60*time.Second),
	}
	taken.acts[newCommit] = []pair{measured(2*time.Second, time.Second)}
	taken.acts[manyStacks] = []pair{measured(20*time.Second, 22*time.Second)}
	taken.acts[manyStacks][0].bare.cpu.other = 4 * time.Second
	var out strings.Builder
	writeLanguages(&out, options{languageStacks: 10, parallel: 4}, []languageSample{taken}, 2)
	text := out.String()
	for name, want := range map[string]string{
		"each language has a table":              "### Programs in TypeScript\n",
		"the installation is only bare Pulumi's": "| before that: `npm ci` | 8.00 s |  |  | 9.00 s |  |  |\n",
		"CPU time is that of both":               "| first run | 4.00 s | 10.00 s | 2.50 | 2.00 s | 6.00 s | 3.00 |\n",
		"medians are named":                      "| second run, with another config, median of 3 | 4.00 s | 6.00 s | 1.50 | 2.00 s | 4.00 s | 2.00 |\n",
		"Stacks can be faster":                   "| new commit, with the same dependencies | 2.00 s | 1.00 s | 0.50 | 1.00 s | 1.50 s | 1.50 |\n",
		"the number of stacks is that of flags":  "| 10 new stacks at once, 4 at a time | 20.00 s |",
		"others are named":                       "used 10 % of it",
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(text).To(ContainSubstring(want)) })
	}
}

func TestACommitLeavesTheDependenciesAlone(t *testing.T) {
	for _, name := range []string{golang, typeScript} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			lang, err := newLanguage(name)
			if err != nil && name == typeScript {
				t.Skip(err)
			}
			g.Expect(err).NotTo(HaveOccurred())
			defer lang.close()
			before, after := lang.files("hello"), lang.files("hello again")
			g.Expect(before[lang.source]).To(ContainSubstring(`"hello `))
			g.Expect(after[lang.source]).To(ContainSubstring(`"hello again `))
			for file, text := range before {
				if file != lang.source {
					g.Expect(after).To(HaveKeyWithValue(file, text))
				}
			}
			g.Expect(lang.dependencies).NotTo(BeEmpty())
		})
	}
}

func TestTheValueOfABareStack(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"of a new stack":     {"", "config:\n  bench:value: two\n"},
		"of one with a salt": {"config:\n  bench:value: one\nencryptionsalt: v1:abc\n", "config:\n  bench:value: two\nencryptionsalt: v1:abc\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			text, err := withValue([]byte(tc.text), "two")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(text)).To(Equal(tc.want))
		})
	}
}

// noted notes what a side has to do.
type noted struct{ acts *[]string }

func (n noted) note(act string, now shown) (span, error) {
	*n.acts = append(*n.acts, act+" "+now.String())
	return span{}, nil
}

func (n noted) create(_ context.Context, now shown, first, stacks int) (span, error) {
	return n.note(fmt.Sprintf("create %d+%d", first, stacks), now)
}
func (n noted) configure(_ context.Context, now shown) (span, error) { return n.note("configure", now) }
func (n noted) commit(_ context.Context, now shown) (span, error)    { return n.note("commit", now) }

func TestBothSidesDoTheSame(t *testing.T) {
	g := NewWithT(t)
	var bare, stacks []string
	b := &bench{say: func(string, ...any) {}, options: options{languageRounds: 2, languageStacks: 3, timeout: time.Minute}}
	taken := languageSample{}
	s := sides{meter: &meter{controller: 1}}
	g.Expect(b.languageActs(t.Context(), s, &taken, noted{&bare}, noted{&stacks})).To(Succeed())
	g.Expect(bare).To(Equal([]string{
		"create 0+1 hello value-0",
		"configure hello value-1", "commit hello, commit 1: value-1",
		"configure hello, commit 1: value-2", "commit hello, commit 2: value-2",
		"create 1+3 hello, commit 2: value-2", "create 4+3 hello, commit 2: value-2",
	}))
	g.Expect(stacks).To(Equal(bare))
	for which, want := range [languageActs]int{firstRun: 1, otherConfig: 2, newCommit: 2, manyStacks: 2} {
		g.Expect(taken.acts[which]).To(HaveLen(want))
	}
}
