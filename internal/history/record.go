// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

const (
	// IndexKey is the key of the entries of all recorded runs in the ConfigMap, newest first.
	IndexKey = "index.json.gz"
	// maxEntries and maxValue bound the index: the number of its entries, and each value of their metadata
	// in bytes.
	maxEntries, maxValue = 100, 1 << 10
	// maxLogLines and maxLogText bound the log of a run in its record. Errors are at the end, and the ConfigMap is
	// written as a whole after each run.
	maxLogLines, maxLogText = 200, 16 << 10
)

// Record is what is kept of a run.
type Record struct {
	// Entry is like that of status.history, but of this run alone.
	Entry meta.Snapshot
	// Change is what the run has changed, nil if that is nothing or not known.
	Change *Change
	// Log is the end of its log, nil if there is none.
	Log *run.Log
}

// LogKey returns the key of the log of a run in the ConfigMap.
func LogKey(run string) string { return run + ".log.gz" }

func mostIndex() bounded.Size {
	return bounded.Size{Data: maxData, Text: 4 << 20, Members: 100 * maxEntries}
}

// Entries reads the index. A ConfigMap of an earlier version has none: known is false then.
func Entries(data map[string][]byte) (entries meta.History, known bool, err error) {
	packed, known := data[IndexKey]
	if !known {
		return nil, false, nil
	}
	if err := bounded.Unpack(packed, mostIndex(), &entries); err != nil {
		return nil, true, fmt.Errorf("reading the list of recorded runs: %w", err)
	}
	return entries[:min(len(entries), maxEntries)], true, nil
}

// Put adds a run to the data of a ConfigMap, or replaces it if it is there, and returns the data. It keeps the last
// runs up to the limit. If they are too large together, the changes of the oldest become empty, and their logs go.
// A ConfigMap without an index, or with one that nobody can read, continues with the entries of the status.
func Put(before map[string][]byte, status meta.History, record Record, limit int) (map[string][]byte, error) {
	entries, known, err := Entries(before)
	if !known || err != nil {
		entries = status
	}
	entries = upsert(entries, bound(record.Entry))
	entries = entries[:min(len(entries), limit, maxEntries)]
	index, size, err := bounded.Pack(entries)
	if err != nil {
		return nil, fmt.Errorf("packing the list of recorded runs: %w", err)
	}
	if !size.Fits(mostIndex()) {
		return nil, errors.New("the list of recorded runs is too large")
	}
	own, err := record.data()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(before)
	if all == nil {
		all = make(map[string][]byte)
	}
	maps.Copy(all, own)
	kept := keep(all, entries, maxData-len(index))
	kept[IndexKey] = index
	return kept, nil
}

// upsert adds an entry. Consecutive runs that were alike and have changed nothing share one, as those of an interval
// must not hide what the others did.
func upsert(entries meta.History, entry meta.Snapshot) meta.History {
	entries = slices.Clone(entries)
	isSame := func(one meta.Snapshot) bool { return Run(one.Metadata) == Run(entry.Metadata) }
	if at := slices.IndexFunc(entries, isSame); at >= 0 {
		entry.FirstReconciled, entry.TotalReconciliations = entries[at].FirstReconciled, entries[at].TotalReconciliations
		entries[at] = entry
		return entries
	}
	if latest := entries.Latest(); latest != nil && isAlike(*latest, entry) {
		entry.FirstReconciled, entry.TotalReconciliations = latest.FirstReconciled, latest.TotalReconciliations+1
		entries[0] = entry
		return entries
	}
	return slices.Insert(entries, 0, entry)
}

func isAlike(a, b meta.Snapshot) bool {
	return a.Digest == b.Digest && a.LastReconciledStatus == b.LastReconciledStatus && a.Metadata["operation"] == b.Metadata["operation"] &&
		len(ChangedIn(a.Metadata))+len(ChangedIn(b.Metadata)) == 0
}

func bound(entry meta.Snapshot) meta.Snapshot {
	metadata := make(map[string]string, len(entry.Metadata))
	for key, value := range entry.Metadata {
		metadata[key] = bounded.Line(value, maxValue)
	}
	entry.Metadata = metadata
	return entry
}

// data returns what the ConfigMap has of the run beside its entry.
func (r Record) data() (map[string][]byte, error) {
	id, data := Run(r.Entry.Metadata), make(map[string][]byte)
	if r.Change != nil {
		packed, err := Encode(*r.Change)
		if err != nil {
			return nil, err
		}
		data[Key(id)] = packed
	}
	if log := lastLines(r.Log); log != nil {
		packed, err := runlog.Encode(log)
		if err != nil {
			return nil, err
		}
		data[LogKey(id)] = packed
	}
	return data, nil
}

// lastLines returns the end of a log.
func lastLines(log *run.Log) *run.Log {
	log = runlog.Bounded(log)
	if log == nil {
		return nil
	}
	size, from := 0, len(log.Lines)
	for from > 0 && len(log.Lines)-from < maxLogLines && size+len(log.Lines[from-1].Text) <= maxLogText {
		from--
		size += len(log.Lines[from].Text)
	}
	return &run.Log{Lines: log.Lines[from:], LeftOut: log.LeftOut + from}
}

// keep returns the data of the runs that the entries name, as far as there is room.
func keep(data map[string][]byte, entries meta.History, room int) map[string][]byte {
	kept := make(map[string][]byte)
	for _, id := range Runs(entries) {
		if change, known := data[Key(id)]; known {
			if room -= len(change); room < 0 {
				change = []byte{}
			}
			kept[Key(id)] = change
		}
		if log, known := data[LogKey(id)]; known {
			if room -= len(log); room >= 0 {
				kept[LogKey(id)] = log
			}
		}
	}
	return kept
}
