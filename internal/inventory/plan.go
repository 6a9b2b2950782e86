// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"errors"
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// PlanKey of the data in a ConfigMap: a plan in gzipped JSON. It is from the time when only
// the steps were in it.
const PlanKey = "steps.json.gz"

// EncodePlan returns the data for a plan, cut if it is too big.
func EncodePlan(p plan.Plan) ([]byte, error) { return encodePlan(p, MaxData) }

func encodePlan(p plan.Plan, limit int) ([]byte, error) {
	var data []byte
	_, ok, err := p.Fit(func(p plan.Plan) (bool, error) {
		packed, size, err := bounded.Pack(p)
		data = packed
		return isReadable(size, limit), err
	})
	if err != nil {
		return nil, fmt.Errorf("packing the plan: %w", err)
	}
	if !ok {
		return nil, errors.New("the plan cannot be made small enough")
	}
	return data, nil
}

// DecodePlan reads the data of a ConfigMap, also of an earlier version.
func DecodePlan(data []byte) (plan.Plan, error) {
	var p plan.Plan
	if err := bounded.Unpack(data, most(), &p); err != nil {
		return plan.Plan{}, fmt.Errorf("reading the plan in the ConfigMap: %w", err)
	}
	return p.Bounded(), nil
}
