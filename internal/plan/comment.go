// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// MaxComment bounds a Comment, in bytes. GitHub takes 65,536 characters, and Flux's events
// 39,000.
const MaxComment = 30_000

const (
	// maxNamed is how many resources are named that are deleted, and that are replaced.
	maxNamed = 5
	// maxCode bounds a name, and maxReason what a sentence quotes, in bytes.
	maxCode   = 120
	maxReason = 500
	// cutText says that there is more than a comment has room for, and seeAllText where.
	cutText    = "**This comment is cut**: the change is too large for it"
	seeAllText = ". See all of it with `flux pulumi diff stack %s -n %s` before you approve it"
)

// Comment is a plan for the reviewers of a pull request.
type Comment struct {
	Plan Plan
	// Revision of the program, "" if it is not known.
	Revision string
	// Stack is the one that applies the change after the merge, in Namespace. Its name is "" if
	// it is not known.
	Stack, Namespace string
	// Preview is the Stack that keeps the plan, in PreviewNamespace. Its name is "" if none does.
	Preview, PreviewNamespace string
	// Incomparable is why that Stack would have another digest for the same change, "" if it has
	// the same.
	Incomparable string
	// Warnings are what a person should know of the run that has made the plan.
	Warnings []string
}

// Markdown is the comment, within MaxComment: what is deleted or replaced, the counts, what
// violates policies, the diff, how to approve it, and what to know of it. Texts of the program
// are in code only, where they mention nobody and are no links. Without changes it is a line.
func (c Comment) Markdown() string {
	violated := c.violated()
	if c.Plan.IsEmpty() && !c.Plan.Destroy {
		return joined([]string{"No changes" + c.revision(" at revision "), violated, c.warnings()})
	}
	head := joined(append(c.destructive(), c.Plan.summary(), violated))
	foot := joined([]string{c.unproven(), c.approval(), c.unbound(), c.unknown(), c.warnings(), c.revision("Revision ")})
	const separators = 12
	cut := c.cut()
	room := MaxComment - len(head) - len(foot) - len(cut) - separators
	diff, isCut := fenced(c.Plan.changeBlocks(plannedWording()), c.Plan.More.Total(), room)
	if !isCut {
		cut = ""
	}
	return joined([]string{head, diff, cut, foot})
}

// cut says of a comment that is too small for the plan where all of it is.
func (c Comment) cut() string {
	if c.Preview == "" {
		return cutText
	}
	return cutText + fmt.Sprintf(seeAllText, c.Preview, c.PreviewNamespace)
}

// joined are the parts that there are as paragraphs.
func joined(parts []string) string {
	var texts []string
	for _, part := range parts {
		if text := strings.Trim(part, "\n"); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// destructive are what the plan deletes and replaces, and what it may.
func (c Comment) destructive() []string {
	counts := c.Plan.Counts()
	var parts []string
	if c.Plan.Destroy {
		parts = append(parts, "**Destroys the stack**")
	}
	for _, one := range []struct {
		verb  string
		count int
		is    func(op string) bool
	}{
		{"Deletes", counts.Delete, func(op string) bool { return op == OpDelete }},
		{"Replaces", counts.Replace, func(op string) bool { return op == OpReplace }},
		{"May delete or replace", counts.Other, func(op string) bool { return urgency(op) == urgency("") }},
	} {
		if one.count > 0 {
			parts = append(parts, fmt.Sprintf("**%s %s: %s**", one.verb, plural.Of(one.count, "resource", "resources"), c.named(one.count, one.is)))
		}
	}
	return parts
}

// named names the first resources with such an operation, and counts the others.
func (c Comment) named(count int, is func(op string) bool) string {
	var names []string
	for _, step := range inOrder(c.Plan.Steps, Step.key, Step.digest) {
		if is(step.value.Op) && len(names) < maxNamed {
			names = append(names, Code(step.value.Type+" "+ResourceName(step.value.URN), maxCode))
		}
	}
	text := strings.Join(names, ", ")
	switch more := count - len(names); {
	case more > 0 && text == "":
		return "not listed"
	case more > 0:
		return fmt.Sprintf("%s and %d more", text, more)
	}
	return text
}

// violated are the violations of policies.
func (c Comment) violated() string {
	total := len(c.Plan.Policies) + c.Plan.MorePolicies
	if total == 0 {
		return ""
	}
	verdicts, _ := fenced(c.Plan.policyBlocks(), 0, MaxComment/4) // which counts what it leaves out
	return plural.Of(total, "violation of policies", "violations of policies") + ":\n" + verdicts
}

// approval says how to approve the plan, or why it cannot be approved. No Stack has the digest of
// a plan without the state that it starts from.
func (c Comment) approval() string {
	switch {
	case c.Plan.State == "":
		return ""
	case c.Incomparable != "":
		return "This plan cannot be approved before the merge: " + Code(c.Incomparable, maxReason)
	}
	where, name := "the Stack that applies it", "NAME"
	if c.Stack != "" {
		where, name = fmt.Sprintf("Stack `%s` in namespace `%s`", c.Stack, c.Namespace), c.Stack
	}
	digest := c.Plan.Digest()
	return fmt.Sprintf("To apply exactly this after the merge, commit its digest to %s:\n\n"+
		"```yaml\nspec:\n  approval:\n    approved: %s\n```\n\nor run `flux pulumi approve stack %s -n %s --digest %s --ahead --yes`",
		where, digest, name, c.Namespace, digest)
}

// unproven says what of the plan is only what the program says.
func (c Comment) unproven() string {
	return joined(c.Plan.unproven("**", "`"))
}

func (c Comment) unbound() string {
	if c.Plan.Unbound == "" {
		return ""
	}
	return "Pulumi cannot be held to this plan: it is made again and compared right before the update. Why: " + Code(c.Plan.Unbound, maxReason)
}

// unknown says that some values are not known yet. Those may turn out to be anything.
func (c Comment) unknown() string {
	sign := fmt.Sprintf("%q", Unknown)
	isUnknown := func(change Change) bool { return strings.Contains(string(change.New), sign) }
	ofStep := func(step Step) bool {
		return slices.ContainsFunc(step.Properties, func(p Property) bool { return isUnknown(p.Change) })
	}
	if !slices.ContainsFunc(c.Plan.Steps, ofStep) && !slices.ContainsFunc(c.Plan.Outputs, func(o Output) bool { return isUnknown(o.Change) }) {
		return ""
	}
	return "Values that are `" + Unknown + "` are known only during the update"
}

func (c Comment) warnings() string {
	var all []string
	for _, warning := range c.Warnings[:min(len(c.Warnings), maxNamed)] {
		all = append(all, "Warning: "+Code(warning, maxReason))
	}
	return joined(all)
}

// revision is the one that was previewed, after such words.
func (c Comment) revision(before string) string {
	if c.Revision == "" {
		return ""
	}
	return before + Code(c.Revision, maxReason)
}
