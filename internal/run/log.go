// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import "time"

// Log is the end of the log of a run. Its texts are masked like those of a Result.
type Log struct {
	Lines []LogLine `json:"lines"`
	// LeftOut is the number of lines before these that are left out.
	LeftOut int `json:"leftOut,omitempty"`
}

// LogLine is a line of the log of a run.
type LogLine struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}
