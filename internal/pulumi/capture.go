// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"strings"
)

// captureBytes is how much of each end of a stream is kept.
const captureBytes = 64 << 10

// capture keeps the beginning and the end of a stream and forgets the middle.
// It is an io.Writer that takes everything, so that a process never waits.
type capture struct {
	head, tail []byte
	dropped    int64
}

// Write never fails.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if room := captureBytes - len(c.head); room > 0 {
		taken := min(room, len(p))
		c.head = append(c.head, p[:taken]...)
		p = p[taken:]
	}
	c.tail = append(c.tail, p...)
	if over := len(c.tail) - captureBytes; over > 0 {
		c.dropped += int64(over)
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
	return n, nil
}

// String is the stream, or its two ends cut at whole lines: half a line could
// hold half a secret, which no mask would find.
func (c *capture) String() string {
	if c.dropped == 0 {
		return string(c.head) + string(c.tail)
	}
	head, tail := string(c.head), string(c.tail)
	head = head[:strings.LastIndexByte(head, '\n')+1]
	_, tail, _ = strings.Cut(tail, "\n")
	return fmt.Sprintf("%s[... %d bytes are left out ...]\n%s", head, c.dropped, tail)
}
