// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import "regexp"

// steady drops from a message what differs at each attempt although the error is the
// same: each new text would be a new Event, and a new alert.
func steady(text string) string {
	for _, volatile := range []struct{ pattern, with string }{
		// What logging libraries begin a line with.
		{`(?m)^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?[ :]*`, ""},
		{`(?m)^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ `, ""},
		{`\b0x[0-9a-f]{6,16}\b`, "0x..."},
		{`\bgoroutine \d+\b`, "goroutine"},
		{`\[PID: \d+\]`, ""},
		// The port of a client, and one that the kernel has chosen for a server.
		{`\b((?:read|write) (?:tcp|udp) \S+?):\d+->`, "$1->"},
		{`\b(127\.0\.0\.1|localhost|\[::1\]):(?:3[2-9]|[45]\d|6[0-5])\d{3}\b`, "$1"},
		// A measured time, unlike a limit, has more digits than a person writes.
		{`\b(\d+)\.\d{3,}(m?s)\b`, "$1$2"},
	} {
		text = regexp.MustCompile(volatile.pattern).ReplaceAllString(text, volatile.with)
	}
	return text
}
