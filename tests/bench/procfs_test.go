// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestParseProcessStat(t *testing.T) {
	const rest = " S 42 1 1 0 -1 4194304 100 0 0 0 11 22 33 44 20 0 9 0 12345 1 1\n"
	for name, tc := range map[string]struct {
		text string
		want processStat
		err  string
	}{
		"times are counted in hundredths of a second, user and system together": {
			text: "7 (etcd)" + rest,
			want: processStat{name: "etcd", state: "S", parent: 42, own: 330 * time.Millisecond, children: 770 * time.Millisecond},
		},
		"a name may hold brackets and spaces": {
			text: "7 (a) b (c)" + rest,
			want: processStat{name: "a) b (c", state: "S", parent: 42, own: 330 * time.Millisecond, children: 770 * time.Millisecond},
		},
		"a text without a name is refused":        {text: "7 etcd S 42", err: "it has no name"},
		"a text that ends too early is refused":   {text: "7 (etcd) S 42 1 1", err: "only 4 fields"},
		"a time that is not a number is refused":  {text: "7 (etcd) S 42 1 1 0 -1 4194304 100 0 0 0 x 22 33 44 20", err: "field 14"},
		"an empty text, of a process gone, is so": {text: "", err: "it has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := parseProcessStat(tc.text)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestParseProcessStatOfThisProcess(t *testing.T) {
	g := NewWithT(t)
	stat, err := readStat(os.Getpid())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(stat.parent).To(Equal(os.Getppid()))
	g.Expect(stat.name).NotTo(BeEmpty())
}

func TestParseMachineStat(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want time.Duration
		err  string
	}{
		"idling and waiting for disks are not counted, what the host took is": {
			text: "cpu  100 10 200 99999 88888 1 2 3 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
			want: 3160 * time.Millisecond,
		},
		"a guest's time is not counted twice": {text: "cpu  100 0 0 0 0 0 0 0 100 0\n", want: time.Second},
		"another file is refused":             {text: "btime 1 2 3 4 5 6 7 8 9\n", err: "unexpected line"},
		"a line that is too short is refused": {text: "cpu 1 2 3\n", err: "unexpected line"},
		"what is not a number is refused":     {text: "cpu  x 10 200 9 8 1 2 3 0 0\n", err: "invalid syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := parseMachineStat(tc.text)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestParseKilobytes(t *testing.T) {
	const status = "Name:\tx\nVmPeak:\t  900 kB\nVmHWM:\t    12 kB\nThreads:\t3\n"
	for name, tc := range map[string]struct {
		text, key string
		want      int64
		err       string
	}{
		"kilobytes become bytes":        {status, "VmHWM", 12 << 10, ""},
		"a line that is not there":      {status, "VmRSS", 0, "no such line"},
		"a line that has no number":     {status, "Name", 0, "invalid syntax"},
		"a key that only ends the same": {"XVmHWM: 1 kB\n", "VmHWM", 0, "no such line"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := parseKilobytes(tc.text, tc.key)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestParseModel(t *testing.T) {
	g := NewWithT(t)
	g.Expect(parseModel("processor\t: 0\nmodel\t\t: 167\nmodel name\t: Some CPU: fast\nmodel name\t: Another\n")).To(Equal("Some CPU: fast"))
	g.Expect(parseModel("processor\t: 0\n")).To(Equal("unknown CPU"), "as on some ARM machines")
}
