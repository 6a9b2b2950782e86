// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

const mebibyte = 1 << 20

// bomb is a result that is small in its Secret and unpacks to text bytes: before, as many
// repetitions of again as fit, after. Each repetition has its own number in place of #.
func bomb(t *testing.T, before, again, after string, text int) []byte {
	t.Helper()
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if _, err := zip.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(before)
	if left := text - len(before) - len(after); strings.Contains(again, "#") {
		for i := range left / len(numbered(again, 0)) {
			write(numbered(again, i))
		}
	} else {
		write(strings.Repeat(again, left/len(again)))
	}
	write(after)
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func numbered(text string, number int) string {
	return strings.ReplaceAll(text, "#", fmt.Sprintf("%06x", number))
}

// allocated measures how much memory do allocates, and how much of it stays in use.
func allocated(do func()) (all, stays int) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	all = int(after.TotalAlloc - before.TotalAlloc)
	runtime.GC()
	runtime.ReadMemStats(&after)
	return all, max(0, int(after.HeapAlloc)-int(before.HeapAlloc))
}

// A tenant can write any result. The mebibyte a Secret holds can unpack to a thousand times
// as much, in the controller that serves all tenants.
func TestDecodingAResultTakesBoundedMemory(t *testing.T) {
	short.Skip(t) // TestAForgedResultIsBounded stays
	const ok = `{"Result":{"Outcome":"Succeeded",`
	for name, tt := range map[string]struct {
		before, again, after string
		// members is how many members each again counts for; 0 means the result is accepted.
		members int
	}{
		"resources":                  {ok + `"Inventory":{"Resources":[`, `{},`, `{}]}}}`, 2},
		"resources gone":             {ok + `"Inventory":{"Gone":[`, `"",`, `""]}}}`, 1},
		"steps":                      {ok + `"Steps":[`, `{},`, `{}]}}`, 2},
		"null steps":                 {ok + `"Steps":[`, `null,`, `null]}}`, 1},
		"paths of a step":            {ok + `"Steps":[{"paths":[`, `"",`, `""]}]}}`, 1},
		"steps of a plan":            {ok + `"Plan":{"steps":[`, `{},`, `{}]}}}`, 2},
		"null steps of a plan":       {ok + `"Plan":{"steps":[`, `null,`, `null]}}}`, 1},
		"properties":                 {ok + `"Plan":{"steps":[{"properties":[`, `{},`, `{}]}]}}}`, 2},
		"steps that were done":       {ok + `"Done":{"steps":[`, `{},`, `{}]}}}`, 2},
		"steps of drift":             {ok + `"Drift":{"Found":{"steps":[`, `{},`, `{}]}}}}`, 2},
		"outputs of a plan":          {ok + `"Plan":{"outputs":[`, `{},`, `{}]}}}`, 2},
		"versions of a plan":         {ok + `"Plan":{"versions":{`, `"#":"1",`, `"b":"1"}}}}`, 1},
		"unknown creates":            {ok + `"UnknownCreates":[`, `"",`, `""]}}`, 1},
		"forgotten URNs":             {ok + `"Forgotten":[`, `"",`, `""]}}`, 1},
		"violations":                 {ok + `"Violations":{"Listed":[`, `{},`, `{}]}}}`, 2},
		"violations of made-up sets": {ok + `"Violations":{"Mandatory":{`, `"#":1,`, `"b":1}}}}`, 1},
		"outputs":                    {ok + `"Outputs":{`, `"#":1,`, `"b":1}}}`, 1},
		"a list in an output":        {ok + `"Outputs":{"a":[`, `{},`, `{}]}}}`, 2},
		"plain outputs":              {ok + `"x":1},"Plain":{"Values":{`, `"#":1,`, `"b":1}}}`, 1},
		"keys of wanted outputs":     {ok + `"x":1},"Plain":{"Wanted":{"Keys":[`, `"",`, `""]}}}`, 1},
		"nested lists":               {ok + `"Outputs":{"a":`, `[`, ``, 1},
		"an unknown list":            {ok + `"Else":[`, `0,`, `0]}}`, 1},
		"a repeated field":           {ok + `"Steps":[`, `{}],"Steps":[`, `{}]}}`, 3},
		"a long message":             {ok + `"Message":"`, `a`, `"}}`, 0},
		"a message of invalid UTF-8": {ok + `"Message":"`, "\xff", `"}}`, 0},
		"a long URN":                 {ok + `"UnknownCreates":["`, `u`, `"]}}`, 0},
		"a long output name":         {ok + `"Outputs":{"`, `u`, `":1}}}`, 0},
		"a large output":             {ok + `"Outputs":{"a":"`, `u`, `"}}}`, 0},
		"a large plain output":       {ok + `"x":1},"Plain":{"Values":{"a":"`, `u`, `"}}}`, 0},
		"a long violation":           {ok + `"Violations":{"Listed":[{"Level":"mandatory","Message":"`, `u`, `"}]}}}`, 0},
		"a long permalink":           {ok + `"Permalink":"https://`, `u`, `"}}`, 0},
		"a long path of a step":      {ok + `"Steps":[{"paths":["`, `u`, `"]}]}}`, 0},
		"a long value":               {ok + `"Plan":{"steps":[{"properties":[{"old":"`, `u`, `"}]}]}}}`, 0},
		"a long verdict":             {ok + `"Plan":{"policies":[{"message":"`, `u`, `"}]}}}`, 0},
		"an unknown string":          {ok + `"Else":"`, `u`, `"}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			const atMost = 200 * mebibyte
			decode := func(text int) error {
				data := bomb(t, tt.before, tt.again, tt.after, text)
				var kept any
				var err error
				all, stays := allocated(func() { kept, err = DecodeResult(data, time.Now()) })
				t.Logf("%d bytes, %d unpacked: %d MiB are allocated, and %d KiB stay", len(data), text, all>>20, stays>>10)
				g.Expect(all).To(BeNumerically("<", atMost))
				g.Expect(stays).To(BeNumerically("<", 20*mebibyte))
				runtime.KeepAlive(kept)
				return err
			}
			if tt.members == 0 {
				g.Expect(decode(maxText)).To(Succeed())
				return
			}
			g.Expect(decode(maxText)).To(MatchError(And(HavePrefix("reading the result of the run: "), MatchRegexp("more than (500000 members|1032192 bytes)"))))
			_ = decode(min(maxText, len(numbered(tt.again, 0))*(maxMembers/tt.members-10))) // the largest accepted
		})
	}
}
