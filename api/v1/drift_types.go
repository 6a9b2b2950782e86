// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DriftMode is what follows from drift.
// +kubebuilder:validation:Enum=Report;Propose;Correct
type DriftMode string

const (
	// DriftReport reports drift, and changes nothing.
	DriftReport DriftMode = "Report"
	// DriftPropose proposes an update that undoes the drift, which a person has
	// to approve.
	DriftPropose DriftMode = "Propose"
	// DriftCorrect undoes the drift with an update.
	DriftCorrect DriftMode = "Correct"
)

// Drift controls when the controller looks for drift: differences between the
// resources and the state of the stack, which someone has made outside of
// Pulumi.
// +kubebuilder:validation:XValidation:rule="[has(self.schedule) && size(self.schedule) > 0, has(self.interval)].filter(x, x).size() == 1",message="exactly one of schedule and interval is required"
// +kubebuilder:validation:XValidation:rule="!has(self.timeZone) || size(self.timeZone) == 0 || (has(self.schedule) && size(self.schedule) > 0)",message="timeZone belongs to schedule: remove it, or use schedule in place of interval"
type Drift struct {
	// Schedule is when to check, in the form of cron: minute, hour, day of the
	// month, month and day of the week, or @hourly, @daily, @weekly, @monthly
	// or @yearly. A check starts up to 5 minutes later, and at most a tenth of
	// the time until the next one, so that not all Stacks with the same
	// schedule are checked at once. If checks were missed, one runs afterwards.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^ *(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[^ @=]+( +[^ =]+){4}) *$')",message="must have five fields, minute, hour, day of the month, month and day of the week, or be @hourly, @daily, @weekly, @monthly or @yearly; the time zone belongs in timeZone"
	// +optional
	Schedule string `json:"schedule,omitempty"`

	// TimeZone is the time zone of the schedule, by its name in the IANA
	// database, such as Europe/Berlin. A time that daylight saving skips is
	// checked right after it, and one that occurs twice is checked twice.
	// Defaults to UTC.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*)?$') && self != 'Local'",message="must be the name of a time zone of the IANA database, such as Europe/Berlin or UTC"
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// Interval is the time from the end of a check to the next one, which
	// starts up to 5 minutes later, and at most a tenth of the interval. Less
	// than 1m counts as 1m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,7}([.][0-9]{1,9})?m|[0-9]{1,5}([.][0-9]{1,9})?h){1,8}$')",message="must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// Mode is what follows from drift. Report: the condition Drifted, and an
	// event. Propose: also a plan in status.plan of an update that undoes the
	// drift, which waits for an approval, whatever spec.approval says. Correct:
	// that update at once, unless spec.approval requires an approval. Both are
	// limited to the resources that have drifted, and follow once for the same
	// drift, and only if the last update has succeeded with the current inputs.
	// Defaults to Report.
	// +optional
	Mode DriftMode `json:"mode,omitempty"`

	// Ignore is the drift that does not count.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Ignore []IgnoredDrift `json:"ignore,omitempty"`
}

// IgnoredDrift is drift that does not count.
// +kubebuilder:validation:XValidation:rule="(has(self.type) && size(self.type) > 0) || (has(self.urn) && size(self.urn) > 0)",message="needs a type or a urn: add one, or * as the urn for all resources"
type IgnoredDrift struct {
	// Type is the type of the resources, such as aws:s3/bucket:Bucket. A *
	// stands for any text. Defaults to all types.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Type string `json:"type,omitempty"`

	// URN of the resources. A * stands for any text. Defaults to all resources
	// of the type.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	URN string `json:"urn,omitempty"`

	// Paths are the properties that do not count, with all that is below them,
	// in the form of Pulumi, such as tags.env or rules[*].port. A * in brackets
	// stands for any element. Defaults to the whole resource: not even its
	// deletion counts.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	// +optional
	Paths []string `json:"paths,omitempty"`
}

// DriftStatus describes the last check for drift.
type DriftStatus struct {
	// ScheduledSince is when spec.drift was found in an existing Stack that was not
	// checked yet. The time of the first check counts from it.
	// +optional
	ScheduledSince *metav1.Time `json:"scheduledSince,omitempty"`

	// LastCheckedAt is when the last check ended.
	// +optional
	LastCheckedAt *metav1.Time `json:"lastCheckedAt,omitempty"`

	// Result is the reason of the condition Drifted: DriftDetected, NoDrift or
	// DriftCheckFailed.
	// +optional
	Result string `json:"result,omitempty"`

	// Changed is the number of resources that were changed, without what is
	// ignored.
	// +optional
	Changed int32 `json:"changed,omitempty"`

	// Deleted is the number of resources that are gone, without what is ignored.
	// +optional
	Deleted int32 `json:"deleted,omitempty"`

	// Ignored is the number of resources with drift that spec.drift.ignore
	// excludes.
	// +optional
	Ignored int32 `json:"ignored,omitempty"`

	// Digest of the drift: the resources with the values that differ, without
	// what is ignored. It is empty if there is none.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Since is when the drift with this digest was found first.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// Message says why the check has failed, or what has become of the
	// correction.
	// +optional
	Message string `json:"message,omitempty"`

	// Failures is the number of checks in a row that have failed.
	// +optional
	Failures int64 `json:"failures,omitempty"`

	// Targets are the URNs of the resources that a correction is limited to, at
	// most 100.
	// +optional
	Targets []string `json:"targets,omitempty"`

	// TargetDependents is set if a correction includes the resources that depend
	// on the targets, because a target is created again.
	// +optional
	TargetDependents bool `json:"targetDependents,omitempty"`

	// SpecDigest is the digest of spec.drift.ignore, spec.targets and
	// spec.targetDependents as the last check had them. With others, another
	// check comes before a correction.
	// +optional
	SpecDigest string `json:"specDigest,omitempty"`

	// AttemptedDigest is the digest of the drift that a correction was last
	// proposed or started for. None follows for the same drift before a check
	// finds other drift or none, an update of other inputs succeeds, or a
	// check is requested.
	// +optional
	AttemptedDigest string `json:"attemptedDigest,omitempty"`

	// Retry is set if the correction, or its proposal, could not run. It is tried
	// again with a growing delay, as an update is.
	// +optional
	Retry *DriftRetry `json:"retry,omitempty"`

	// Unfinished is set if an update that refreshes may have recorded drift in the
	// state before it failed, so that no check sees it. That drift counts until an
	// update of these resources has succeeded. It is only reported.
	// +optional
	Unfinished *UnfinishedDrift `json:"unfinished,omitempty"`

	// Proposed is the plan that was proposed to correct the drift. It may be
	// replaced, for example by the one of a requested update, and is not announced
	// again if it is the same afterwards.
	// +optional
	Proposed *DriftProposal `json:"proposed,omitempty"`

	// CheckPending: an update may have undone the drift, so that a check is due.
	// +optional
	CheckPending bool `json:"checkPending,omitempty"`

	// LastHandledCheck is the last handled value of the annotation
	// pulumi.com/check-drift.
	// +optional
	LastHandledCheck string `json:"lastHandledCheck,omitempty"`

	// ConfigMap is the name of a ConfigMap that the Stack owns, with the
	// details of the drift.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`

	// ContentDigest is the digest of the content of the ConfigMap, as
	// sha256:<checksum>. It is empty if the details could not be written, so
	// that the ConfigMap has those of an earlier check.
	// +optional
	ContentDigest string `json:"contentDigest,omitempty"`
}

// UnfinishedDrift is drift that an update may have recorded in the state before it
// failed.
type UnfinishedDrift struct {
	// Targets are the URNs of the resources, at most 100. Those that a check has
	// found to differ from the state again are left out, and those that
	// spec.drift.ignore or spec.targets exclude.
	// +listType=atomic
	// +optional
	Targets []string `json:"targets,omitempty"`

	// Others is the number of resources that the status does not name, as with the
	// mode Report. They count until an update without spec.targets has succeeded.
	// +optional
	Others int32 `json:"others,omitempty"`
}

// DriftedCondition says whether the resources differ from the state of the
// stack. It has no effect on Ready.
const DriftedCondition = "Drifted"

// Reasons of the condition Drifted.
const (
	// DriftDetectedReason: the last check has found resources that were changed
	// or deleted outside of Pulumi.
	DriftDetectedReason = "DriftDetected"

	// NoDriftReason: the last check has found none that counts.
	NoDriftReason = "NoDrift"

	// DriftCheckFailedReason: the last check has failed, so that it is not known
	// whether anything has drifted. The controller retries.
	DriftCheckFailedReason = "DriftCheckFailed"
)

// CheckDriftAnnotation asks for a check for drift: each new value starts one.
// Without spec.drift, it only reports.
const CheckDriftAnnotation = "pulumi.com/check-drift"

// DriftProposal says of a plan that corrects drift when it was proposed first.
type DriftProposal struct {
	// Digest of the plan.
	Digest string `json:"digest"`

	// Run that has proposed it.
	Run string `json:"run"`

	// ProposedAt is when the plan was made.
	ProposedAt metav1.Time `json:"proposedAt"`
}

// DriftRetry says of a correction of drift that could not run when that was.
type DriftRetry struct {
	// Failures is the number of attempts in a row that could not run.
	Failures int64 `json:"failures"`

	// Reason of the last one, such as BackendUnavailable or StackLocked.
	Reason string `json:"reason"`

	// LastAttemptAt is when the last one ended.
	LastAttemptAt metav1.Time `json:"lastAttemptAt"`
}
