// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// texts are the messages in the table of transitions, in the order in which they come up.
type texts struct{ all []string }

// number returns the number of a text, in which the reason is replaced.
func (t *texts) number(text, reason string) string {
	if text == "" {
		return `""`
	}
	text = hideReason(text, reason)
	at := slices.Index(t.all, text)
	if at < 0 {
		at = len(t.all)
		t.all = append(t.all, text)
	}
	return fmt.Sprintf("T%d", at+1)
}

func hideReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return strings.ReplaceAll(text, reason, "$reason")
}

// changes lists the fields of the status that differ, with their new values.
func (t *texts) changes(before, after *v1.Stack, reason string) string {
	was, is := t.fields(before, reason), t.fields(after, reason)
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] != is[name] {
			changed = append(changed, name+"="+is[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, ok := is[name]; !ok {
			changed = append(changed, "-"+name)
		}
	}
	if len(changed) == 0 {
		return "nothing"
	}
	return strings.Join(changed, " ")
}

// fields returns the fields of the status as texts. Conditions and the history, which say the
// same over and over, are shortened.
func (t *texts) fields(stack *v1.Stack, reason string) map[string]string {
	status := stack.Status.DeepCopy()
	fields := map[string]string{}
	for _, c := range status.Conditions {
		fields[c.Type] = fmt.Sprintf("%s/%s(%s)", c.Status, hideReason(c.Reason, reason), t.number(c.Message, reason))
		if c.ObservedGeneration != stack.Generation {
			fields[c.Type] += fmt.Sprintf("@%d", c.ObservedGeneration)
		}
	}
	if len(status.History) > 0 {
		last := status.History[0]
		fields["history"] = abbreviated.Replace(fmt.Sprintf("%s/%s/x%d/%s%v", last.Digest, hideReason(last.LastReconciledStatus, reason),
			last.TotalReconciliations, last.LastReconciledDuration.Duration, last.Metadata))
	}
	status.Conditions, status.History = nil, nil
	raw, err := json.Marshal(status)
	var whole map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &whole)
	}
	if err != nil {
		panic(err)
	}
	for name, value := range whole {
		fields[name] = t.text(name, value, reason)
	}
	return fields
}

// abbreviated shortens what nearly every line has.
var abbreviated = strings.NewReplacer(gitRevision, "REVISION", gitCommit40, "COMMIT", "2026-11-20T", "", "sha256:", "")

func (t *texts) text(name string, value any, reason string) string {
	switch value := value.(type) {
	case map[string]any:
		var parts []string
		for _, part := range slices.Sorted(maps.Keys(value)) {
			parts = append(parts, part+":"+t.text(part, value[part], reason))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case []any:
		var parts []string
		for _, part := range value {
			parts = append(parts, t.text(name, part, reason))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case string:
		if name == "message" {
			return t.number(value, reason)
		}
		return abbreviated.Replace(hideReason(value, reason))
	}
	return fmt.Sprint(value)
}

func (t *texts) event(e *Event, reason string) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf(" | %s %s(%s)", e.Type, hideReason(e.Reason, reason), t.number(e.Message, reason))
}

// next describes the next decision, unless a run is in flight.
func (t *texts) next(stack *v1.Stack, reason string) string {
	if stack.Status.Run != nil {
		return ""
	}
	d := nextDecision(stack)
	text := " | " + d.String()
	if d.Reason != "" {
		text += fmt.Sprintf(" %s(%s)", hideReason(d.Reason, reason), t.number(d.Message, reason))
	}
	if d.Awaited {
		text += " awaited"
	}
	if d.Fetching {
		text += " fetching"
	}
	if d.Drift != "" {
		text += " of drift"
	}
	if d.Check {
		text += " and a check"
	}
	if d.After > 0 {
		text += " after " + d.After.String()
	}
	return text
}
