// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

var start = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// record is that of a run that ended so many minutes after the start.
func record(id string, minutes int, steps int) Record {
	at := metav1.NewTime(start.Add(time.Duration(minutes) * time.Minute))
	r := Record{Entry: meta.Snapshot{
		Digest: "sha256:1", FirstReconciled: at, LastReconciled: at, LastReconciledStatus: "ReconciliationSucceeded", TotalReconciliations: 1,
		Metadata: Of(id, steps > 0, nil),
	}}
	r.Entry.Metadata["operation"] = "update"
	if steps > 0 {
		r.Change = &Change{EndedAt: at.Time, Plan: large(steps)}
	}
	return r
}

func put(t *testing.T, data map[string][]byte, limit int, records ...Record) map[string][]byte {
	t.Helper()
	for _, one := range records {
		var err error
		data, err = Put(data, nil, one, limit)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}
	return data
}

// summary is the runs of all entries, with how many share each.
func summary(t *testing.T, data map[string][]byte) string {
	t.Helper()
	entries, known, err := Entries(data)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(known).To(BeTrue())
	var all []string
	for _, one := range entries {
		all = append(all, fmt.Sprintf("%s%d", Run(one.Metadata), one.TotalReconciliations))
	}
	return strings.Join(all, " ")
}

func TestWhichRunsAreRecorded(t *testing.T) {
	failed := record("f", 9, 0)
	failed.Entry.LastReconciledStatus = "UpdateFailed"
	other := record("o", 9, 0)
	other.Entry.Digest = "sha256:2"
	recovery := record("r", 9, 0)
	recovery.Entry.Metadata["operation"] = "recover"
	for name, tt := range map[string]struct {
		records []Record
		limit   int
		want    string
	}{
		"each, newest first":               {[]Record{record("a", 1, 1), record("b", 2, 1)}, 20, "b1 a1"},
		"one again, as after a crash":      {[]Record{record("a", 1, 1), record("a", 1, 1)}, 20, "a1"},
		"an earlier one again":             {[]Record{record("a", 1, 1), record("b", 2, 1), record("a", 1, 1)}, 20, "b1 a1"},
		"the last ones":                    {[]Record{record("a", 1, 1), record("b", 2, 1), record("c", 3, 1)}, 2, "c1 b1"},
		"those that changed nothing share": {[]Record{record("a", 1, 1), record("b", 2, 0), record("c", 3, 0), record("d", 4, 0)}, 20, "d3 a1"},
		"a shared one again":               {[]Record{record("a", 1, 0), record("b", 2, 0), record("b", 2, 0)}, 20, "b2"},
		"not across a change":              {[]Record{record("a", 1, 0), record("b", 2, 1), record("c", 3, 0)}, 20, "c1 b1 a1"},
		"not with another result":          {[]Record{record("a", 1, 0), failed}, 20, "f1 a1"},
		"not with other inputs":            {[]Record{record("a", 1, 0), other}, 20, "o1 a1"},
		"not of another operation":         {[]Record{record("a", 1, 0), recovery}, 20, "r1 a1"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(summary(t, put(t, nil, tt.limit, tt.records...))).To(Equal(tt.want))
		})
	}
}

func TestTheSameRecordIsTheSameData(t *testing.T) {
	g := NewWithT(t)
	last := record("b", 2, 3)
	last.Log = &run.Log{Lines: []run.LogLine{{At: start, Text: "created"}}}
	data := put(t, nil, 20, record("a", 1, 2), last)
	g.Expect(put(t, data, 20, last)).To(Equal(data))
}

func TestARecordHasTheEndOfTheLog(t *testing.T) {
	g := NewWithT(t)
	long := record("a", 1, 0)
	long.Log = &run.Log{}
	for n := range 5000 {
		long.Log.Lines = append(long.Log.Lines, run.LogLine{At: start, Text: fmt.Sprintf("%d %s", n, rand.Text())})
	}
	data := put(t, nil, 20, long)
	log, err := runlog.Decode(data[LogKey("a")])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.Lines).To(HaveLen(maxLogLines))
	g.Expect(log.Lines[maxLogLines-1].Text).To(HavePrefix("4999 "))
	g.Expect(log.LeftOut).To(Equal(5000 - maxLogLines))
	g.Expect(len(data[LogKey("a")])).To(BeNumerically("<", maxLogText))
}

func TestTheOldestRunsMakeRoom(t *testing.T) {
	g := NewWithT(t)
	var data map[string][]byte
	for n := range 8 {
		one := record(fmt.Sprint(n), n, 10_500)
		one.Log = &run.Log{Lines: []run.LogLine{{At: start, Text: "done"}}}
		data = put(t, data, 5, one)
	}
	g.Expect(summary(t, data)).To(Equal("71 61 51 41 31"))
	size := 0
	for _, value := range data {
		size += len(value)
	}
	g.Expect(size).To(BeNumerically("<=", maxData))
	g.Expect(data[Key("7")]).NotTo(BeEmpty())
	g.Expect(data).To(HaveKeyWithValue(Key("3"), BeEmpty()), "that it had changes is known")
	g.Expect(data).NotTo(HaveKey(LogKey("3")))
	g.Expect(data).NotTo(HaveKey(Key("2")))
}

func TestARecordOfAnEarlierVersionContinues(t *testing.T) {
	g := NewWithT(t)
	old, err := Encode(Change{EndedAt: start, Plan: large(1)})
	g.Expect(err).NotTo(HaveOccurred())
	status := meta.History{
		{LastReconciledStatus: "ReconciliationSucceeded", TotalReconciliations: 4, Metadata: map[string]string{"run": "c", "changedIn": "b,a"}},
		{LastReconciledStatus: "UpdateFailed", TotalReconciliations: 1, Metadata: map[string]string{"operation": "update"}},
	}
	before := map[string][]byte{Key("a"): old, Key("b"): old, Key("gone"): old}
	data, err := Put(before, status, record("d", 9, 1), 20)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(summary(t, data)).To(Equal("d1 c4 1"))
	g.Expect(slices.Sorted(maps.Keys(data))).To(Equal([]string{Key("a"), Key("b"), Key("d"), IndexKey}))
	g.Expect(data[Key("a")]).To(Equal(old))

	data[IndexKey] = []byte("no gzip")
	_, known, err := Entries(data)
	g.Expect(known).To(BeTrue())
	g.Expect(err).To(MatchError(HavePrefix("reading the list of recorded runs: ")))
	again, err := Put(data, status, record("e", 10, 1), 20)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(summary(t, again)).To(Equal("e1 c4 1"), "it is no reason to record nothing any more")
}

func TestAForgedIndexIsBounded(t *testing.T) {
	g := NewWithT(t)
	huge := record("a", 1, 0)
	huge.Entry.Metadata["message"] = strings.Repeat("x\n", 1<<20)
	entries, _, err := Entries(put(t, nil, 1000, huge))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(entries[0].Metadata["message"])).To(BeNumerically("<=", maxValue))
	var many []Record
	for n := range 120 {
		many = append(many, record(fmt.Sprint(n), n, 1))
	}
	entries, _, err = Entries(put(t, nil, 1000, many...))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(maxEntries))
}

// TestARecordIsSmall measures what the documentation claims: the whole of it is written to etcd after each run.
func TestARecordIsSmall(t *testing.T) {
	g := NewWithT(t)
	var data map[string][]byte
	for n := range 20 {
		one := record(rand.Text(), n, 10)
		one.Entry.Metadata["revision"] = "main@sha1:9a8f4c4a7c8b1f6f0f5d0f3e7b2f1f0a3c5d7e91"
		one.Log = &run.Log{}
		for line := range 40 {
			one.Log.Lines = append(one.Log.Lines, run.LogLine{At: start, Text: fmt.Sprintf("updated urn:pulumi:dev::app::lab:index:Thing::a%d %s", line, rand.Text())})
		}
		data = put(t, data, 20, one)
	}
	size := 0
	for _, value := range data {
		size += len(value)
	}
	t.Logf("20 runs with 10 changes and 40 lines of log each: %d bytes, %d for each run", size, size/20)
	g.Expect(size).To(BeNumerically("<", 40<<10))
}
