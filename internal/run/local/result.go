// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// resultFile is the file of a run that stays until the run is forgotten. It
// holds the Result and nothing of the Run, which has secrets in it.
const resultFile = "result.json"

// writeResult puts the whole result in place at once: a controller that dies
// while it writes leaves none, and none means that the run was lost.
func writeResult(dir string, result run.Result) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("writing the result of the run: %w", err)
	}
	file, err := os.CreateTemp(dir, resultFile+".")
	if err != nil {
		return fmt.Errorf("writing the result of the run: %w", err)
	}
	_, writeErr := file.Write(text)
	err = errors.Join(writeErr, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, resultFile))
	}
	if err != nil {
		return fmt.Errorf("writing the result of the run: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// readResult returns nil where there is no result.
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
