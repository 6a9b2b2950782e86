// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// Foresight is what the controller is going to do with a Stack of the Pulumi operator.
type Foresight struct {
	// Decision once the dependencies are ready and the faults are mended.
	Decision decide.Decision
	// Faults name a field each, and say how to edit it.
	Faults []string
	// Unready are the dependencies that are not ready now.
	Unready []string
	// Unproven is what keeps the status from proving that the operator has applied the Stack
	// as it is. With Assumed, it does so only if nothing was pushed to the projectRepo since.
	Unproven string
	Assumed  bool
	// Account is the service account that the program has, "" for none.
	Account string
	// Values, Missing, Unchecked and Unreadable are as in an Explanation.
	Values                         []ExplainedValue
	Missing, Unchecked, Unreadable []string
}

// maxFaults bounds the faults that are looked for in one Stack.
const maxFaults = 20

// Foresee observes a Stack of the Pulumi operator as the controller will, with the rights of the
// given client. It changes nothing. The controller reports the first fault of a spec and looks at the
// rest once that is mended, so each faulty field is left out to find the next one.
func Foresee(ctx context.Context, api client.Reader, stack *v1.Stack, options Options, now func() time.Time) (*Foresight, error) {
	options.AssumeUnchanged = true
	o, reader, checks := looksOn(api, options, now)
	foreseen := &Foresight{}
	for left := stack; ; {
		seen, err := o.Observe(ctx, left)
		if err != nil {
			return nil, fmt.Errorf("looking at Stack %s/%s: %w", stack.Namespace, stack.Name, err)
		}
		foreseen.Unready = seen.Unready
		foreseen.Decision = decide.Next(whenReady(seen))
		if foreseen.Decision.Action != decide.Stall {
			foreseen.describe(ctx, o, left, seen)
			break
		}
		foreseen.Faults = append(foreseen.Faults, foreseen.Decision.Message)
		if left = withoutFault(left, foreseen.Decision.Message); left == nil || len(foreseen.Faults) == maxFaults {
			break
		}
	}
	foreseen.Unchecked, foreseen.Unreadable = firstOfEach(checks.unknown), reader.unreadable()
	return foreseen, nil
}

// whenReady returns what is observed as if all dependencies were ready.
func whenReady(seen *Observation) decide.Observation {
	observed := seen.Observation
	observed.Unready = nil
	return observed
}

func (f *Foresight) describe(ctx context.Context, o *Observer, stack *v1.Stack, seen *Observation) {
	f.Unproven = stackstatus.UnprovenOfOperator(stack, seen.Program.Revision, seen.Program.MadeAt)
	f.Assumed = stack.Spec.ProjectRepo != "" && stack.Spec.Commit == "" && stack.Status.GitRepository == ""
	f.Account = seen.Account
	if seen.Inputs == nil {
		seen.Inputs, f.Missing = o.resolvePartly(ctx, stack, seen.Program)
	}
	f.Values = explainValues(stack, seen)
}

var faultyField = regexp.MustCompile(`\bspec\.([A-Za-z]+)`)

// withoutFault returns the Stack without the field that a message names, or nil if that is one
// without which nothing can be said of the Stack.
func withoutFault(stack *v1.Stack, message string) *v1.Stack {
	named := faultyField.FindStringSubmatchIndex(message)
	if named == nil {
		return nil
	}
	field, rest := message[named[2]:named[3]], message[named[3]:]
	switch field {
	case "stack", "fluxSource", "programRef", "projectRepo":
		return nil
	}
	text, err := json.Marshal(stack.Spec)
	if err != nil {
		return nil
	}
	var spec map[string]any
	if err := json.Unmarshal(text, &spec); err != nil || spec[field] == nil {
		return nil
	}
	if members, ok := spec[field].(map[string]any); ok && removeNamed(members, rest) && len(members) > 0 {
		spec[field] = members
	} else {
		delete(spec, field)
	}
	left := stack.DeepCopy()
	if text, err = json.Marshal(spec); err != nil {
		return nil
	}
	left.Spec = v1.StackSpec{}
	if err := json.Unmarshal(text, &left.Spec); err != nil {
		return nil
	}
	return left
}

// removeNamed removes the member with which the text begins. A name may be the beginning of
// another one.
func removeNamed(members map[string]any, text string) bool {
	longest := ""
	for name := range members {
		if strings.HasPrefix(text, "."+name) && len(name) > len(longest) {
			longest = name
		}
	}
	delete(members, longest)
	return longest != ""
}

// firstOfEach removes what is there more than once.
func firstOfEach(texts []string) []string {
	known := map[string]bool{}
	var first []string
	for _, text := range texts {
		if !known[text] {
			first = append(first, text)
		}
		known[text] = true
	}
	return first
}
