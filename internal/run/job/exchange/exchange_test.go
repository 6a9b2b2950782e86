// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// noise is a text that does not compress.
func noise(length int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
	source := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, length)
	for i := range text {
		text[i] = letters[source.IntN(len(letters))]
	}
	return string(text)
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text)
	return raw
}

func TestAnInputRoundTrips(t *testing.T) {
	g := NewWithT(t)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	input := Input{SecretEnv: []string{"TOKEN"}, Nonce: "random", Run: run.Run{
		ID: "1", Namespace: "default", Name: "app", Operation: run.Recover, Backend: "s3://state", BackendKey: "key",
		Program: run.Program{YAML: []byte("resources: {}\n"), Packages: map[string]string{"aws": "5"}, Config: map[string]any{"aws:region": "eu"}},
		Env:     map[string]string{"A": "b"}, Config: map[string]json.RawMessage{"app:n": json.RawMessage("12345678901234567890")},
		Secrets: map[string]string{"app:s": "hush"}, Masks: []string{"hush"}, Outputs: &run.WantedOutputs{Keys: []string{"url"}},
		Interrupted: []run.Interrupted{{ID: "0", Operation: run.Update, Host: "pulumi-run-0", From: at, To: at.Add(time.Minute)}},
		Timeout:     time.Hour, InspectFirst: true,
	}}
	data, digest, err := EncodeInput(input)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).NotTo(ContainSubstring("hush"))
	g.Expect(DecodeInput(data, digest)).To(Equal(input))

	again, same, err := EncodeInput(input)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(data), "encoding is deterministic")
	g.Expect(same).To(Equal(digest))

	guessed := input
	guessed.Nonce = ""
	_, other, err := EncodeInput(guessed)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other).NotTo(Equal(digest), "the digest cannot be computed without the nonce")

	_, err = DecodeInput(append(data, 0), digest)
	g.Expect(err).To(MatchError(ContainSubstring("it was changed")))
}

func TestAnInputTooLargeForASecretIsRefused(t *testing.T) {
	g := NewWithT(t)
	_, _, err := EncodeInput(Input{Run: run.Run{Program: run.Program{YAML: []byte(noise(1 << 20))}}})
	g.Expect(err).To(MatchError(ErrTooLarge))
	data, _, err := EncodeInput(Input{Run: run.Run{Program: run.Program{YAML: []byte(strings.Repeat("a: b\n", 1<<20))}}})
	g.Expect(err).NotTo(HaveOccurred(), "five MiB that compress well")
	g.Expect(len(data)).To(BeNumerically("<", maxRun))
}

func TestAResultRoundTrips(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	ended := run.Result{
		Outcome: run.Succeeded, Outputs: map[string]json.RawMessage{"url": quoted("[secret]")},
		Plain:   &run.PlainOutputs{Wanted: run.WantedOutputs{Keys: []string{"url"}}, Values: map[string]json.RawMessage{"url": quoted("https://x")}},
		Changes: run.Changes{Created: 2}, Project: run.Project{Name: "app", Runtime: "yaml"}, Backend: "s3://state",
		UnknownCreates: []string{"urn:a"}, Forgotten: []string{}, Permalink: "https://app.pulumi.com/x",
		StartedAt: now.Add(-time.Minute), EndedAt: now,
	}
	data, err := EncodeResult(run.Update, ended)
	g.Expect(err).NotTo(HaveOccurred())
	read, err := DecodeResult(data, now)
	g.Expect(err).NotTo(HaveOccurred())
	read.Forgotten = []string{}
	g.Expect(*read).To(Equal(ended))
}

func TestAResultThatDoesNotFitSaysWhatIsLeftOut(t *testing.T) {
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	large := map[string]json.RawMessage{"large": quoted(noise(2 << 20)), "small": quoted("x")}
	small := map[string]json.RawMessage{"small": quoted("x")}
	zeros := map[string]json.RawMessage{"zeros": quoted(strings.Repeat("0", maxPlain))}
	escaped := map[string]json.RawMessage{"tags": json.RawMessage(`"` + strings.Repeat("<", maxPlain/5) + `"`)}
	many := make(map[string]json.RawMessage)
	for i := range 150_000 {
		many[strconv.Itoa(i)] = quoted("")
	}
	for name, tt := range map[string]struct {
		operation run.Operation
		ended     run.Result
		want      func(g *WithT, read *run.Result)
	}{
		"plain outputs are left out before masked ones": {
			run.Update, run.Result{Outcome: run.Succeeded, Outputs: small, Plain: &run.PlainOutputs{Values: large}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Outcome).To(Equal(run.Succeeded), "the update succeeded all the same")
				g.Expect(read.Outputs).To(HaveLen(1))
				g.Expect(read.Plain).To(BeNil())
				g.Expect(read.LeftOut).To(BeZero())
			},
		},
		"masked outputs that are left out are counted": {
			run.Update, run.Result{Outcome: run.Succeeded, Outputs: large, LeftOut: 1},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Outcome).To(Equal(run.Succeeded))
				g.Expect(read.Outputs).To(BeNil())
				g.Expect(read.LeftOut).To(Equal(3))
			},
		},
		"a run that reads outputs fails": {
			run.ReadOutputs, run.Result{Outcome: run.Succeeded, Plain: &run.PlainOutputs{Values: large}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Outcome).To(Equal(run.Failed))
				g.Expect(read.Message).To(ContainSubstring("spec.writeOutputsToSecret.keys"))
			},
		},
		"a run that reads too much fails, however well it compresses": {
			run.ReadOutputs, run.Result{Outcome: run.Succeeded, Plain: &run.PlainOutputs{Values: zeros}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Outcome).To(Equal(run.Failed))
				g.Expect(read.Message).To(MatchRegexp(`^the outputs have \d+ bytes, and at most 8388608 .*: name fewer in spec.writeOutputsToSecret.keys$`))
			},
		},
		"a run that reads too much once escaped fails": {
			run.ReadOutputs, run.Result{Outcome: run.Succeeded, Plain: &run.PlainOutputs{Values: escaped}},
			func(g *WithT, read *run.Result) { g.Expect(read.Outcome).To(Equal(run.Failed)) },
		},
		"an update with too large outputs succeeds": {
			run.Update, run.Result{Outcome: run.Succeeded, Outputs: small, Plain: &run.PlainOutputs{Values: zeros}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Outcome).To(Equal(run.Succeeded))
				g.Expect(read.Outputs).To(HaveLen(1))
				g.Expect(read.Plain).To(BeNil())
			},
		},
		"many small outputs fit": {
			run.ReadOutputs, run.Result{Outcome: run.Succeeded, Plain: &run.PlainOutputs{Values: many}},
			func(g *WithT, read *run.Result) {
				g.Expect(read.Outcome).To(Equal(run.Succeeded))
				g.Expect(read.Plain.Values).To(HaveLen(len(many)))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			data, err := EncodeResult(tt.operation, tt.ended)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(data)).To(BeNumerically("<=", MaxData))
			read, err := DecodeResult(data, now)
			g.Expect(err).NotTo(HaveOccurred())
			tt.want(g, read)
		})
	}
}

// The program of a tenant can write the Secret too.
func TestAForgedResultIsBounded(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	encoded := func(value any) []byte {
		data, _, err := bounded.Pack(value)
		g.Expect(err).NotTo(HaveOccurred())
		return data
	}
	_, err := DecodeResult(encoded(result{Result: run.Result{Outcome: "Excellent"}}), now)
	g.Expect(err).To(MatchError(ContainSubstring(`unknown outcome "Excellent"`)))
	_, err = DecodeResult([]byte("no gzip"), now)
	g.Expect(err).To(HaveOccurred())
	_, err = DecodeResult(encoded(strings.Repeat("a", maxText)), now)
	g.Expect(err).To(MatchError(ContainSubstring("more than")))

	var long []string
	for i := range 900 {
		long = append(long, fmt.Sprintf("%04d", i)+strings.Repeat("u", maxURN))
	}
	read, err := DecodeResult(encoded(result{Result: run.Result{
		Changes: run.Changes{Created: math.MaxInt, Deleted: -5, Same: 7}, LeftOut: -1, Forgotten: long,
		Outcome: run.Failed, Message: strings.Repeat("ä", maxMessage), Permalink: "javascript:alert(1)",
		Warnings: slices.Repeat([]string{strings.Repeat("ä", maxName)}, maxWarnings+1), Log: &run.Log{Lines: make([]run.LogLine, 5000)},
		UnknownCreates: strings.Split(strings.Repeat("b,a,", 5000), ","),
		StartedAt:      now.Add(time.Hour), EndedAt: now.Add(time.Hour),
	}}), now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(read.Message)).To(BeNumerically("<=", maxMessage))
	g.Expect(read.Warnings).To(HaveLen(maxWarnings))
	g.Expect(len(read.Warnings[0])).To(BeNumerically("<=", maxName))
	g.Expect(read.Log.Lines).To(HaveLen(1000))
	g.Expect(read.Permalink).To(BeEmpty())
	g.Expect(read.UnknownCreates).To(Equal([]string{"", "a", "b"}))
	g.Expect(read.Changes).To(Equal(run.Changes{Created: maxCount, Same: 7}), "numbers a counter accepts")
	g.Expect(read.LeftOut).To(BeZero())
	g.Expect(len(strings.Join(read.Forgotten, ""))).To(And(BeNumerically(">", maxURNsSize/2), BeNumerically("<=", maxURNsSize)))
	g.Expect(read.StartedAt).To(Equal(now))
	g.Expect(read.EndedAt).To(Equal(now))

	large := map[string]json.RawMessage{"a": quoted("x"), "b": quoted(strings.Repeat("x", maxOutputs)), "c": quoted("x")}
	read, err = DecodeResult(encoded(result{Result: run.Result{Outcome: run.Succeeded, Outputs: large, LeftOut: 3}}), now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Outputs).To(And(HaveLen(1), HaveKey("a")))
	g.Expect(read.LeftOut).To(Equal(5))
	large["b"] = quoted(strings.Repeat("x", maxPlain))
	read, err = DecodeResult(encoded(result{Result: run.Result{Outcome: run.Succeeded}, Plain: &run.PlainOutputs{Values: large}}), now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Plain).To(BeNil())
}

// TestAForgedLinkIsNone: it is a line of its own in comments on pull requests and in chats.
func TestAForgedLinkIsNone(t *testing.T) {
	for text, is := range map[string]bool{
		"https://app.pulumi.com/acme/app/dev/updates/1":                    true,
		"http://pulumi.example.com:8080/acme/app/dev/previews/2d0f?a=b#c":  true,
		"https://app.pulumi.com/\n\n@everyone":                             false,
		"https://app.pulumi.com/ [approved](https://evil.example)":         false,
		"https://app.pulumi.com/ <!-- flux-pr-comment-key:1/Stack/a/b -->": false,
		"https://<!--x-->/":                     false,
		"https://app.pulumi.com/`@everyone`":    false,
		"https://app.pulumi.com@evil.example/":  false,
		"https://":                              false,
		"javascript:alert(1)":                   false,
		"https://app.pulumi.com/\u202eresrever": false,
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			data, _, err := bounded.Pack(result{Result: run.Result{Outcome: run.Succeeded, Permalink: text}})
			g.Expect(err).NotTo(HaveOccurred())
			read, err := DecodeResult(data, time.Now())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(read.Permalink == text).To(Equal(is), read.Permalink)
			g.Expect(is || read.Permalink == "").To(BeTrue())
		})
	}
}

func TestReportedProgressIsBounded(t *testing.T) {
	g := NewWithT(t)
	report := ProgressReport{Progress: run.Progress{Done: run.Changes{Created: 3}, InFlight: 2}, UnknownCreates: []string{"urn:a"}}
	data, err := EncodeProgress(report)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(DecodeProgress(data)).To(Equal(report))

	for i := range 1000 {
		report.UnknownCreates = append(report.UnknownCreates, strings.Repeat("u", 1000)+string(rune('a'+i%26)))
	}
	data, err = EncodeProgress(report)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(data)).To(BeNumerically("<=", maxProgress))
	g.Expect(DecodeProgress(data).UnknownCreates).NotTo(BeEmpty())
	g.Expect(DecodeProgress([]byte("garbage"))).To(Equal(ProgressReport{}))
}

func TestForgedNumbersOfProgressAreClamped(t *testing.T) {
	g := NewWithT(t)
	const forged = `{"Progress":{"Done":{"Created":-5,"Updated":9000000000000000000,"Deleted":-1,"Replaced":-1,"Same":-1},"InFlight":-7}}`
	g.Expect(DecodeProgress([]byte(forged)).Progress).To(Equal(run.Progress{Done: run.Changes{Updated: maxCount}}))
}

func FuzzDecodeResult(f *testing.F) {
	data, err := EncodeResult(run.Update, run.Result{Outcome: run.Succeeded})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		now := time.Unix(1000, 0)
		read, err := DecodeResult(data, now)
		if err == nil && (read.EndedAt.After(now) || read.StartedAt.After(read.EndedAt) || len(read.Message) > maxMessage) {
			t.Fatalf("out of bounds: %+v", read)
		}
		DecodeProgress(data)
	})
}
