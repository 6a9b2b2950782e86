// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzProgramSpec checks that the text of any Program parses to the same program.
func FuzzProgramSpec(f *testing.F) {
	for _, seed := range []string{
		`{"resources":{"a":{"type":"lab:index:Thing","properties":{"x":"${b.c}","n":1.0},"options":{"protect":true,"dependsOn":["${b}"]}}}}`,
		`{"configuration":{"size":{"type":"integer","default":3},"k":{"secret":true}},"variables":{"v":{"fn::invoke":{"function":"f"}}}}`,
		`{"resources":{"a":{"type":"t","get":{"id":"i","state":{"a":null}},"defaultProvider":false,"name":"on"}},"outputs":{"o":[1,"1"]}}`,
		`{"packages":{"lab":"1.0"},"outputs":{"yes":"no","1":1,"":""}}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var spec ProgramSpec
		var decoded any
		// Text refuses a number that is out of range, which decoded cannot hold either.
		if json.Unmarshal(raw, &spec) != nil || json.Unmarshal(raw, &decoded) != nil {
			return
		}
		if !reflect.DeepEqual(&spec, spec.DeepCopy()) {
			t.Error("a deep copy differs from the program")
		}
		checkRoundTrip(t, &spec)
		first, err := spec.Text()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := spec.DeepCopy().Text(); err != nil || string(again) != string(first) {
			t.Errorf("%s became %s (%v)", first, again, err)
		}
		if strings.Contains(string(first), "\n---") || strings.Contains(string(first), "\n...") {
			t.Errorf("more than one document:\n%s", first)
		}
	})
}

// FuzzStack checks that a Stack survives the round trip through JSON, and that its
// interval, retry interval and timeout are usable.
func FuzzStack(f *testing.F) {
	for _, seed := range []string{
		`{"spec":{"stack":"dev","programRef":{"name":"p"},"interval":"10m","retryInterval":"-1s","timeout":"0s","config":{"a":1.0}}}`,
		`{"spec":{"stack":"dev","envRefs":{"A":{"type":"Literal","literal":{"value":"x"}}},"dependsOn":[{"name":"a","readyExpr":"true"}]},"status":{"outputs":{"a":null}}}`,
		`{"spec":{"interval":"2562047h47m16.854775807s"},"status":{"run":{"id":"r","startedAt":"2026-01-01T00:00:00Z"}}}`, `{"spec":null}`,
		`{"spec":{"timeout":"2562048h","prerequisites":[{"name":"p","requirement":{"succeededWithinDuration":"1e9h"}}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var stack Stack
		if json.Unmarshal(raw, &stack) != nil {
			return
		}
		if stack.GetInterval() < MinInterval || stack.GetRetryInterval() < MinInterval || stack.GetTimeout() <= 0 {
			t.Errorf("interval %s, retry interval %s, timeout %s", stack.GetInterval(), stack.GetRetryInterval(), stack.GetTimeout())
		}
		first, err := json.Marshal(&stack)
		if err != nil {
			return // a time that JSON cannot express
		}
		var back Stack
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		second, err := json.Marshal(back.DeepCopy())
		if err != nil || string(second) != string(first) {
			t.Errorf("%s became %s (%v)", first, second, err)
		}
	})
}
