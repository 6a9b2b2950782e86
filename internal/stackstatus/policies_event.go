// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxDescribedViolations bounds the violations that an event describes.
const maxDescribedViolations = 3

// ArePoliciesChecked reports whether a check of policies has come to a result, which may be that it
// has failed, and its reason.
func ArePoliciesChecked(before, stack *v1.Stack) (reason string, checked bool) {
	now := stack.Status.Policies
	if now == nil || equality.Semantic.DeepEqual(before.Status.Policies, now) {
		return "", false
	}
	return reasonOf(stack, v1.CompliantCondition), true
}

// PoliciesEvent announces which policies are violated, if that is different from what was known
// before: not each check is news.
func PoliciesEvent(before, stack *v1.Stack) (Event, bool) {
	compliant := getCondition(stack, v1.CompliantCondition)
	if compliant == nil {
		return Event{}, false
	}
	was, now := policiesStatus(before), policiesStatus(stack)
	wasReason := reasonOf(before, v1.CompliantCondition)
	e := Event{Type: corev1.EventTypeWarning, Reason: compliant.Reason, Message: compliant.Message, Beside: true}
	switch compliant.Reason {
	case v1.PolicyViolationReason:
		if areSameViolations(was, now) {
			return Event{}, false
		}
		e.Message += describedViolations(now)
	case v1.PolicyCheckFailedReason:
		// Not for another message: it may have counts or the IDs of requests, which differ each
		// time. The condition has it.
		if wasReason == compliant.Reason {
			return Event{}, false
		}
	case v1.PoliciesPassedReason:
		e.Type = corev1.EventTypeNormal
		switch {
		case was.Mandatory > 0 || wasReason == v1.PolicyViolationReason:
			e.Message = "No mandatory policy is violated any more"
		case wasReason == v1.PolicyCheckFailedReason:
			e.Message = "The check of policies works again. " + compliant.Message
		default:
			return Event{}, false
		}
	default:
		return Event{}, false
	}
	return e, true
}

// areSameViolations compares the violations of mandatory policies, without their messages.
func areSameViolations(was, now v1.PoliciesStatus) bool {
	return was.Mandatory == now.Mandatory && slices.Equal(violationKeys(was), violationKeys(now))
}

func violationKeys(known v1.PoliciesStatus) []v1.PolicyViolation {
	var keys []v1.PolicyViolation
	for _, v := range known.Violations {
		if v.Level == string(run.Mandatory) {
			v.Message = ""
			keys = append(keys, v)
		}
	}
	return keys
}

// describedViolations says of the first violations what they are.
func describedViolations(known v1.PoliciesStatus) string {
	text := ""
	for _, v := range known.Violations[:min(len(known.Violations), maxDescribedViolations)] {
		if v.Level != string(run.Mandatory) || v.Message == "" {
			continue
		}
		text += fmt.Sprintf("\n%s: %s", v.Policy, v.Message)
		if v.Resource != "" {
			text += " (" + v.Resource + ")"
		}
	}
	return text
}
