// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// keptMost is how many bytes the outputs and lists of a result may have to be kept in
// memory until the result is absorbed. Larger ones stay in the Secret and are read again.
// A tenant can write results of 20 MiB, and keep any number of them from being absorbed.
const keptMost = 64 << 10

// lighten drops the outputs and the lists of a result if they are large, and reports
// whether it has.
func lighten(ended *run.Result) (light *run.Result, dropped bool) {
	if weight(ended) <= keptMost {
		return ended, false
	}
	copied := *ended
	copied.Outputs, copied.Plain, copied.Inventory, copied.Plan, copied.Done, copied.Drift = nil, nil, nil, nil, nil, nil
	if ended.Inventory != nil {
		copied.Inventory = &run.Inventory{Missed: true}
	}
	return &copied, true
}

// weight returns about how many bytes the outputs and lists of a result take.
func weight(ended *run.Result) int {
	const each = 64 // of its own, beside its texts
	bytes := 0
	for name, value := range ended.Outputs {
		bytes += each + len(name) + len(value)
	}
	if ended.Plain != nil {
		for name, value := range ended.Plain.Values {
			bytes += each + len(name) + len(value)
		}
	}
	if ended.Inventory != nil {
		bytes += ended.Inventory.Size()
	}
	if ended.Plan != nil {
		bytes += ended.Plan.Size()
	}
	if ended.Done != nil {
		bytes += ended.Done.Size()
	}
	if ended.Drift != nil {
		bytes += ended.Drift.Found.Size()
	}
	return bytes
}

// complete reads again what lighten has dropped. If someone has removed or replaced the
// result meanwhile, that is lost, but not the result.
func (r *Runner) complete(k key, light run.Result) (*run.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	secret, err := r.freshSecret(ctx, k.object())
	if err != nil {
		return nil, err
	}
	r.reading.Lock() // one result at a time
	defer r.reading.Unlock()
	err = errors.New("it is not in its Secret any more")
	if hasResult(secret) {
		var whole *run.Result
		if whole, err = exchange.DecodeResult(secret.Data[exchange.ResultKey], time.Now()); err == nil {
			light.Outputs, light.Plain, light.Inventory = whole.Outputs, whole.Plain, whole.Inventory
			light.Plan, light.Done, light.Drift = whole.Plan, whole.Done, whole.Drift
		}
	}
	if err != nil {
		r.options.Log.Error(fmt.Errorf("reading the whole result: %w", err), "the outputs and resources of a run are lost", "namespace", k.namespace, "run", k.id)
	}
	return &light, nil
}
