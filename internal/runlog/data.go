// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package runlog

import (
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Key of the data in a ConfigMap: a run.Log in gzipped JSON.
const Key = "log.json.gz"

// most bounds the data to read: anyone who may write ConfigMaps can write it. A character
// takes up to six bytes in JSON, and a line some more for its time.
func most() bounded.Size {
	return bounded.Size{Data: 1 << 20, Text: 6*maxText + 100*maxLines + 1<<10, Members: 10 * maxLines}
}

// Encode returns the data for a log.
func Encode(log *run.Log) ([]byte, error) {
	data, _, err := bounded.Pack(Bounded(log))
	if err != nil {
		return nil, fmt.Errorf("packing the log of the run: %w", err)
	}
	return data, nil
}

// Decode reads the data of a ConfigMap.
func Decode(data []byte) (*run.Log, error) {
	var log *run.Log
	if err := bounded.Unpack(data, most(), &log); err != nil {
		return nil, fmt.Errorf("reading the log of the run in the ConfigMap: %w", err)
	}
	return Bounded(log), nil
}
