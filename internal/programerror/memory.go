// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Memory is what is known of the memory of the container that runs the program.
type Memory struct {
	// Limit is how many bytes its processes may use, 0 if there is no limit.
	Limit int64
	// Killed reports whether the kernel has killed one of them for exceeding it.
	Killed bool
}

// OutOfMemory begins the message about a program that ran out of memory.
const OutOfMemory = "out of memory: "

// advice says what to raise.
func (m Memory) advice() string {
	if m.Limit <= 0 {
		return "raise the memory limit of the container that runs Pulumi"
	}
	return "raise the memory limit of the container that runs Pulumi, which is " + Quantity(m.Limit)
}

// EndedBy describes the end of a process of the run by a signal, and what to do about it.
func (m Memory) EndedBy(signal string) (ended, advice string) {
	if m.Killed && signal == "killed" {
		return "was killed (OOMKilled)", m.advice()
	}
	return "was ended by a signal (" + signal + ")", "if it was out of memory, " + m.advice()
}

// Quantity writes bytes as in the spec of a pod.
func Quantity(bytes int64) string {
	const mi = 1 << 20
	if bytes%(1<<30) == 0 {
		return fmt.Sprintf("%dGi", bytes>>30)
	}
	return fmt.Sprintf("%dMi", (bytes+mi/2)/mi)
}

// outOfMemory says that the program ran out of memory, if it did: the language says so
// itself, or the kernel has killed the program, which then says nothing.
func (p Program) outOfMemory(end end, printed string) (string, bool) {
	switch {
	case strings.Contains(printed, "JavaScript heap out of memory"):
		text := OutOfMemory + "the JavaScript heap is full: raise its limit with nodeargs: --max-old-space-size=<MiB> in runtime.options of Pulumi.yaml"
		if p.Memory.Limit > 0 {
			text += ", below the memory limit of the container, which is " + Quantity(p.Memory.Limit)
		}
		return text, true
	case isOutOfMemory(printed):
		return OutOfMemory + "the program cannot get more: " + p.Memory.advice(), true
	case end.bySignal() && p.Memory.Killed:
		return OutOfMemory + "the program was killed (OOMKilled): " + p.Memory.advice(), true
	case end.bySignal() && !slices.ContainsFunc(strings.Split(printed, "\n"), IsCrash):
		return "the program was ended by a signal, most likely because it was out of memory: " + p.Memory.advice(), true
	}
	return "", false
}

// isOutOfMemory recognizes what languages say if they cannot get memory.
func isOutOfMemory(text string) bool {
	return regexp.MustCompile(`(?m)^(?:\S+: )?(?:fatal error: )?(?:runtime: out of memory|runtime: cannot allocate memory|` +
		`MemoryError\b|(?:java\.lang\.)?OutOfMemoryError|System\.OutOfMemoryException|Out of memory\.$)`).MatchString(text)
}

// withMemory adds the limit to an error that says that the program is out of memory.
func (p Program) withMemory(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if !isOutOfMemory(first) {
		return text
	}
	first = OutOfMemory + first + ": " + p.Memory.advice()
	if more {
		return first + "\n" + rest
	}
	return first
}
