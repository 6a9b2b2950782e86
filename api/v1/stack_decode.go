// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// UnreadableDuration replaces a duration in a spec that cannot be parsed. It is
// negative, so that the field's default applies.
const UnreadableDuration time.Duration = math.MinInt64

// UnmarshalJSON decodes a spec even if a duration overflows Go's. The CRD refuses
// such durations, but an earlier CRD did not. An error here would fail the list of
// all Stacks, so that none of them would be reconciled.
func (in *StackSpec) UnmarshalJSON(data []byte) error {
	type plain StackSpec // without this method
	err := kjson.Unmarshal(data, (*plain)(in))
	if err == nil {
		return nil
	}
	readable, unreadable, fieldsErr := withoutUnreadable(data, "interval", "retryInterval", "timeout")
	if fieldsErr != nil || len(unreadable) == 0 {
		return err
	}
	*in = StackSpec{}
	if err := kjson.Unmarshal(readable, (*plain)(in)); err != nil {
		return err
	}
	for field, duration := range map[string]**metav1.Duration{
		"interval": &in.Interval, "retryInterval": &in.RetryInterval, "timeout": &in.Timeout,
	} {
		if unreadable[field] {
			*duration = &metav1.Duration{Duration: UnreadableDuration}
		}
	}
	return nil
}

// UnmarshalJSON decodes a requirement even if its duration overflows Go's, as for a
// StackSpec.
func (in *PrerequisiteRequirement) UnmarshalJSON(data []byte) error {
	type plain PrerequisiteRequirement
	err := kjson.Unmarshal(data, (*plain)(in))
	if err == nil {
		return nil
	}
	readable, unreadable, fieldsErr := withoutUnreadable(data, "succeededWithinDuration")
	if fieldsErr != nil || len(unreadable) == 0 {
		return err
	}
	*in = PrerequisiteRequirement{}
	if err := kjson.Unmarshal(readable, (*plain)(in)); err != nil {
		return err
	}
	in.SucceededWithinDuration = &metav1.Duration{Duration: UnreadableDuration}
	return nil
}

// withoutUnreadable removes the durations that cannot be parsed from an object and
// returns their names.
func withoutUnreadable(data []byte, durations ...string) ([]byte, map[string]bool, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, nil, fmt.Errorf("failed to read the fields: %w", err)
	}
	unreadable := map[string]bool{}
	for _, name := range durations {
		value, set := fields[name]
		if !set || !bytes.HasPrefix(value, []byte(`"`)) {
			continue
		}
		if (&metav1.Duration{}).UnmarshalJSON(value) != nil {
			unreadable[name] = true
			delete(fields, name)
		}
	}
	readable, err := json.Marshal(fields)
	return readable, unreadable, err
}
