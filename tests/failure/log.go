// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"sync"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// Log keeps the end of the log of a controller that runs in the process of the test.
type Log struct {
	mu   sync.Mutex
	text []byte
}

// Logger writes to it.
func (l *Log) Logger() logr.Logger {
	return funcr.NewJSON(func(line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.text = append(append(l.text, line...), '\n')
		if extra := len(l.text) - logBytes; extra > logBytes {
			l.text = append([]byte(nil), l.text[extra:]...)
		}
	}, funcr.Options{LogTimestamp: true})
}

// Read is for Report.
func (l *Log) Read() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]byte(nil), l.text...), nil
}
