// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestReadingSince(t *testing.T) {
	before := reading{cpuTimes: cpuTimes{pulumi: 1, controller: 2, controlPlane: 3}, self: 4, machine: 100}
	for name, tc := range map[string]struct {
		after reading
		want  cpuTimes
	}{
		"what nobody of the benchmark used is someone else's": {
			after: reading{cpuTimes: cpuTimes{pulumi: 11, controller: 7, controlPlane: 5}, self: 5, machine: 130},
			want:  cpuTimes{pulumi: 10, controller: 5, controlPlane: 2, other: 12},
		},
		"clocks that disagree do not make it less than nothing": {
			after: reading{cpuTimes: cpuTimes{pulumi: 11, controller: 2, controlPlane: 3}, self: 4, machine: 109},
			want:  cpuTimes{pulumi: 10},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(tc.after.since(before)).To(Equal(tc.want))
		})
	}
}

func TestReadMemory(t *testing.T) {
	g := NewWithT(t)
	resident, err := readResident(os.Getpid())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(resident).To(BeNumerically(">", 1<<20), "bytes, and not the kilobytes that the kernel gives")
	peak, err := readPeak(os.Getpid())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(peak).To(BeNumerically(">=", resident))
	_, err = readPeak(0)
	g.Expect(err).To(HaveOccurred(), "no process has this number")
	g.Expect(time.Second / tick).To(BeEquivalentTo(100))
}
