// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"testing"
	"time"
)

// An API server with an earlier CRD may have stored such a duration.
func TestUnreadableDurationDoesNotFailTheList(t *testing.T) {
	var list StackList
	if err := json.Unmarshal([]byte(`{"items":[
		{"spec":{"stack":"a","interval":"5m","timeout":"2562048h","config":{"n":1},"projectRepo":"https://example.com/a","branch":"main",
			"prerequisites":[{"name":"p","requirement":{"succeededWithinDuration":"9999999999999h"}}]}},
		{"spec":{"stack":"b","timeout":"1h"}}
	]}`), &list); err != nil {
		t.Fatal(err)
	}
	a, b := list.Items[0], list.Items[1]
	if a.Spec.Timeout.Duration != UnreadableDuration || a.GetTimeout() != DefaultTimeout {
		t.Errorf("timeout %s, which counts as %s", a.Spec.Timeout, a.GetTimeout())
	}
	if d := a.Spec.Prerequisites[0].Requirement.SucceededWithinDuration.Duration; d != UnreadableDuration {
		t.Errorf("succeeded within %s", d)
	}
	if a.GetInterval() != 5*time.Minute || a.Spec.Stack != "a" || a.Spec.Branch != "main" || string(a.Spec.Config["n"].Raw) != "1" {
		t.Errorf("the other fields are %+v", a.Spec)
	}
	if b.GetTimeout() != time.Hour {
		t.Errorf("timeout %s of the other Stack", b.GetTimeout())
	}
}

func TestInvalidSpecIsAnError(t *testing.T) {
	for _, text := range []string{`{"spec":{"stack":5}}`, `{"spec":{"stack":5,"timeout":"2562048h"}}`, `{"spec":[]}`, `{"spec":{"timeout":60}}`} {
		if err := json.Unmarshal([]byte(text), &Stack{}); err == nil {
			t.Errorf("%s is decoded", text)
		}
	}
}
