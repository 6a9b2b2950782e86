// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/natefinch/atomic"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// resultFile is the file that stays until the run is forgotten. It has the Result, and
// nothing of the Run, which contains secrets.
const resultFile = "result.json"

// writeResult writes the result atomically: a controller that dies while writing leaves
// no result, which means that the run was lost.
func writeResult(dir string, result run.Result) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("writing the result of the run: %w", err)
	}
	if err := atomic.WriteFile(filepath.Join(dir, resultFile), bytes.NewReader(text)); err != nil {
		return fmt.Errorf("writing the result of the run: %w", err)
	}
	return nil
}

// readResult returns nil if there is no result.
func readResult(dir string) (*run.Result, error) {
	text, err := os.ReadFile(filepath.Join(dir, resultFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the result of the run: %w", err)
	}
	result := &run.Result{}
	if err := json.Unmarshal(text, result); err != nil {
		return nil, fmt.Errorf("reading the result of the run: %w", err)
	}
	return result, nil
}
