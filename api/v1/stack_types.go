// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StackKind is the kind of a Stack.
const StackKind = "Stack"

const (
	// DefaultInterval is the interval of a Stack that gives none.
	DefaultInterval = 10 * time.Minute

	// MinInterval is the shortest interval and retry interval: a shorter one
	// counts as this.
	MinInterval = time.Second

	// MinResyncFrequency is the shortest interval that resyncFrequencySeconds
	// gives: a shorter one counts as this, as the Pulumi operator has it.
	MinResyncFrequency = time.Minute

	// DefaultTimeout bounds a run of a Stack that gives no timeout.
	DefaultTimeout = time.Hour

	// DefaultBackend is the backend of a Stack that names none: Pulumi Cloud.
	DefaultBackend = "https://api.pulumi.com"
)

// StackSpec says which program is run for which stack, and how.
// +kubebuilder:validation:XValidation:rule="[has(self.fluxSource), has(self.programRef), has(self.projectRepo) && size(self.projectRepo) > 0].filter(x, x).size() == 1 || (has(self.workspaceTemplate) && !has(self.fluxSource) && !has(self.programRef))",message="exactly one of fluxSource, programRef and projectRepo is required"
// +kubebuilder:validation:XValidation:rule="!(has(self.branch) && size(self.branch) > 0 && has(self.commit) && size(self.commit) > 0)",message="branch and commit exclude each other: remove one"
// +kubebuilder:validation:XValidation:rule="!has(self.projectRepo) || size(self.projectRepo) == 0 || (has(self.branch) && size(self.branch) > 0) || (has(self.commit) && size(self.commit) > 0)",message="projectRepo needs a branch or a commit: add one"
// +kubebuilder:validation:XValidation:rule="(has(self.projectRepo) && size(self.projectRepo) > 0) || !((has(self.branch) && size(self.branch) > 0) || (has(self.commit) && size(self.commit) > 0) || (has(self.repoDir) && size(self.repoDir) > 0) || has(self.gitAuth) || (has(self.gitAuthSecret) && size(self.gitAuthSecret) > 0))",message="branch, commit, repoDir, gitAuth and gitAuthSecret belong to projectRepo: remove them, or add projectRepo"
// +kubebuilder:validation:XValidation:rule="!has(self.secrets) || !has(self.secretsRef) || !self.secrets.exists(key, key in self.secretsRef)",message="secrets and secretsRef have the same key: remove one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.secrets) || !has(self.configRef) || !self.secrets.exists(key, key in self.configRef)",message="secrets and configRef have the same key: remove one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.secretsRef) || !has(self.configRef) || !self.secretsRef.exists(key, key in self.configRef)",message="secretsRef and configRef have the same key: remove one of the two"
type StackSpec struct {
	// Stack is the name of the stack in the backend: <stack>, <org>/<stack> or
	// <org>/<project>/<stack>. It cannot be changed: another name is another
	// stack, and this one would be left behind with all that it manages.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9_.-]{1,100}/){0,2}[A-Za-z0-9_.-]{1,100}$')",message="must be <stack>, <org>/<stack> or <org>/<project>/<stack>, each of at most 100 letters, digits, hyphens, underscores and periods"
	// +kubebuilder:validation:XValidation:rule="!self.split('/').exists(part, part == '.' || part == '..')",message="neither a stack nor its project or organization can be called . or .."
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="stack cannot be changed: the stack under the old name would be left behind; delete this Stack and make another"
	// +required
	Stack string `json:"stack"`

	// Backend is the URL of the backend that keeps the state of the stack, for
	// instance s3://bucket, gs://bucket, azblob://container or file:///path. It
	// is used in place of whatever the program's Pulumi.yaml says. Defaults to
	// the variable PULUMI_BACKEND_URL of the Stack, and without that to Pulumi Cloud,
	// https://api.pulumi.com.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^(https|http|file|s3|gs|azblob|postgres)://')",message="must be a URL that begins with https://, http://, file://, s3://, gs://, azblob:// or postgres://"
	// +optional
	Backend string `json:"backend,omitempty"`

	// FluxSource takes the program from a Flux source. Every new revision of the
	// source is applied.
	// +optional
	FluxSource *FluxSource `json:"fluxSource,omitempty"`

	// ProgramRef takes the program from a Program in the same namespace. Every
	// edit of the Program is applied.
	// +optional
	ProgramRef *ProgramReference `json:"programRef,omitempty"`

	GitSource `json:",inline"`

	// AccessTokenSecret names a Secret in the namespace of the Stack whose key
	// accessToken is the PULUMI_ACCESS_TOKEN for Pulumi Cloud. An entry of envRefs
	// with that name takes its place.
	// It is deprecated: use envRefs.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	AccessTokenSecret string `json:"accessTokenSecret,omitempty"`

	// Envs names ConfigMaps in the namespace of the Stack: each key is an
	// environment variable, as in envRefs. A key that is no C identifier is left
	// out. Of two with the same key the later one counts. A change of a ConfigMap
	// starts a run.
	// It is deprecated: use envRefs.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	Envs []string `json:"envs,omitempty"`

	// EnvSecrets names Secrets in the namespace of the Stack: each key is an
	// environment variable, as in envRefs. A key that is no C identifier is left
	// out. Of two with the same key the later one counts, and it takes the place of
	// one of envs. A change of a Secret starts a run.
	// It is deprecated: use envRefs.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	EnvSecrets []string `json:"envSecrets,omitempty"`

	// EnvRefs are the environment variables of Pulumi, its providers and the
	// program, by name, which must be a C identifier. Cloud credentials and
	// PULUMI_CONFIG_PASSPHRASE come in here. Nothing of the controller's own
	// environment does, unless it is asked for by type Env. One takes the place of
	// a variable of envs, envSecrets and accessTokenSecret.
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[A-Za-z_][A-Za-z0-9_]*$'))",message="the name of an environment variable has letters, digits and underscores, and does not begin with a digit"
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	EnvRefs map[string]ResourceRef `json:"envRefs,omitempty"`

	// Config are the config values of the stack, by key: <key> of the project,
	// or <namespace>:<key>. Numbers, booleans, lists and objects keep their type.
	// None can be null.
	// +kubebuilder:validation:MaxProperties=1024
	// +optional
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`

	// ConfigRef are config values of the stack that are kept in ConfigMaps of the
	// same namespace, by key as in config. A key cannot be in config as well. A
	// change of a ConfigMap starts a run.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) > 0)",message="has an empty key: give the config value a name, or remove it"
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) == 0 || key.matches('^[^:]+(:(config:)?[^:]+)?$'))",message="has a key that is no config key: write <key> for one of the project, or <namespace>:<key>"
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	ConfigRef map[string]ConfigMapRef `json:"configRef,omitempty"`

	// SecretsRef are the secret config values of the stack, by key. Pulumi keeps
	// them encrypted.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) > 0)",message="has an empty key: give the config value a name, or remove it"
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) == 0 || key.matches('^[^:]+(:(config:)?[^:]+)?$'))",message="has a key that is no config key: write <key> for one of the project, or <namespace>:<key>"
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	SecretsRef map[string]ResourceRef `json:"secretsRef,omitempty"`

	// Secrets are secret config values of the stack, by key, written in the Stack
	// itself, where everybody who may read Stacks can read them. A key cannot be in
	// secretsRef, config or configRef as well.
	// It is deprecated: use secretsRef.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) > 0)",message="has an empty key: give the config value a name, or remove it"
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) == 0 || key.matches('^[^:]+(:(config:)?[^:]+)?$'))",message="has a key that is no config key: write <key> for one of the project, or <namespace>:<key>"
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	Secrets map[string]string `json:"secrets,omitempty"`

	// SecretsProvider is how Pulumi encrypts the secrets of the stack: passphrase,
	// default, which is what the backend does by itself, or the URL of a key:
	// awskms://..., azurekeyvault://..., gcpkms://... or hashivault://.... The
	// credentials for it are variables of the Stack. The next update changes a
	// stack over that is encrypted in another way, and needs the credentials of
	// both. Defaults to what the program's Pulumi.<stack>.yaml names, and without
	// that to what the stack has.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^(passphrase$|default$|(awskms|azurekeyvault|gcpkms|hashivault)://)')",message="must be passphrase, default, or the URL of a key: awskms://, azurekeyvault://, gcpkms:// or hashivault://"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/?#]*@')",message="has a user or a password, which everybody could read: give credentials in envRefs"
	// +optional
	SecretsProvider string `json:"secretsProvider,omitempty"`

	// Environment are the environments of Pulumi ESC whose values the stack has
	// as config and environment variables. They add to those that the program's
	// own Pulumi.<stack>.yaml names, and come after them. They need Pulumi Cloud as
	// the backend. A change within an environment starts no run.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	// +optional
	Environment []string `json:"environment,omitempty"`

	// WriteOutputsToSecret writes the outputs of the stack, secret ones included,
	// to a Secret: texts as they are, other values as JSON. Defaults to none.
	// +optional
	WriteOutputsToSecret *OutputsSecret `json:"writeOutputsToSecret,omitempty"`

	// UseLocalStackOnly never creates the stack: one that is not in its backend is
	// an error. Defaults to false.
	// +optional
	UseLocalStackOnly bool `json:"useLocalStackOnly,omitempty"`

	// DestroyOnFinalize destroys what the stack manages, and removes the stack
	// from its backend, when the Stack object is deleted. The object stays until
	// that is done. Without it, deleting the Stack touches nothing.
	// +optional
	DestroyOnFinalize bool `json:"destroyOnFinalize,omitempty"`

	// Refresh reads what really exists before each update (pulumi up --refresh),
	// and before the destroy, so that a change made behind Pulumi's back is
	// undone. It costs a call to the provider for each resource. Set alone it
	// starts no runs: see continueResyncOnCommitMatch. Defaults to false.
	// +optional
	Refresh bool `json:"refresh,omitempty"`

	// ExpectNoRefreshChanges fails a run, before anything is updated, when the
	// refresh finds that something was changed behind Pulumi's back. The state
	// is left as it is, so the Stack goes on failing, with reason RefreshFailed,
	// until the change is undone or this field is removed. It costs one more
	// Pulumi process in each run, and does nothing without refresh, nor in a
	// destroy. Defaults to false.
	// +optional
	ExpectNoRefreshChanges bool `json:"expectNoRefreshChanges,omitempty"`

	// Targets are the URNs of the only resources to update and to refresh. A *
	// stands for any part of a name, ** for any part of a URN. With refresh, each
	// must be in the state already. The destroy of a deleted Stack does not stop
	// at them. Defaults to all resources.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	Targets []string `json:"targets,omitempty"`

	// TargetDependents also updates the resources that depend on the targets.
	// It does nothing without targets. Defaults to false.
	// +optional
	TargetDependents bool `json:"targetDependents,omitempty"`

	// ContinueResyncOnCommitMatch runs the program again at each interval, also
	// when nothing has changed. With refresh, that undoes drift. Defaults to
	// false: nothing is run unless something has changed.
	// +optional
	ContinueResyncOnCommitMatch bool `json:"continueResyncOnCommitMatch,omitempty"`

	// RunProgram runs the program to find the settings of its providers, also
	// where Pulumi would take them from the state: in a destroy, a refresh and a
	// recovery. It is for credentials that the program itself makes, and that
	// expire. The destroy of a deleted Stack then needs the program and its
	// config: it fails for as long as they are gone. Defaults to false: a destroy
	// needs the state alone.
	// +optional
	RunProgram bool `json:"runProgram,omitempty"`

	// Preview only tells what an update would do (pulumi preview), in the message
	// of the Ready condition. Nothing is created, changed or destroyed, also not
	// when the Stack is deleted with destroyOnFinalize, and no lock is taken. The
	// stack must exist in the backend: a preview does not create it. Defaults to
	// false.
	// +optional
	Preview bool `json:"preview,omitempty"`

	// RetryOnUpdateConflict tries again soon when somebody else holds the lock of
	// the stack: after 5s, and twice as long each time after that, up to the
	// retryInterval. Without it the lock is waited for at the retryInterval. A
	// lock of somebody else is never broken. Defaults to false.
	// +optional
	RetryOnUpdateConflict bool `json:"retryOnUpdateConflict,omitempty"`

	// ServiceAccountName is the service account, in the namespace of the Stack,
	// whose rights in this cluster the program has: a kubeconfig with a token
	// that expires soon is in KUBECONFIG for the time of each run. Defaults to
	// the controller's --default-service-account. Without either the program has
	// no access to the cluster.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$')",message="must be the name of a service account: lower-case letters, digits, hyphens and periods, with a letter or digit at both ends"
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Interval is how often the Stack is looked at when nothing asks for it.
	// Nothing is run at that time unless something has changed, or
	// continueResyncOnCommitMatch is set. Less than 1s counts as 1s, and 0 as
	// none. Defaults to resyncFrequencySeconds, and without that to 10m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,7}([.][0-9]{1,9})?m|[0-9]{1,5}([.][0-9]{1,9})?h){1,8}$')",message="must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// ResyncFrequencySeconds is the interval in seconds, where no interval is
	// given. Less than 60 counts as 60, and 0 as none.
	// It is deprecated: use interval.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=315360000
	// +optional
	ResyncFrequencySeconds int64 `json:"resyncFrequencySeconds,omitempty"`

	// RetryInterval is how long to wait before a failed run, or a reference that
	// cannot be resolved, is tried again. A run that could not begin because the
	// backend, a registry of plugins or the artifact was out of reach is tried
	// again sooner: after 10s, and twice as long each time after that, up to the
	// retryInterval. Less than 1s counts as 1s, and 0 as none. Defaults to the
	// interval.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,7}([.][0-9]{1,9})?m|[0-9]{1,5}([.][0-9]{1,9})?h){1,8}$')",message="must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	// +optional
	RetryInterval *metav1.Duration `json:"retryInterval,omitempty"`

	// RetryMaxBackoffDurationSeconds bounds the retry interval, in seconds.
	// Defaults to no bound.
	// It is deprecated: use retryInterval.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=315360000
	// +optional
	RetryMaxBackoffDurationSeconds int64 `json:"retryMaxBackoffDurationSeconds,omitempty"`

	// Timeout bounds a run. When it has passed, Pulumi is told to stop: it
	// finishes the operations in flight and saves the state. Defaults to 1h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,7}([.][0-9]{1,9})?m|[0-9]{1,5}([.][0-9]{1,9})?h){1,8}$')",message="must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// PendingCreates says what to do when it is not known whether a resource was
	// created: its creation was in flight when the provider, Pulumi or the
	// controller was killed. Running the program again may create it twice. Stop
	// stalls the Stack and names the resources: look for them at their provider,
	// import or delete what is there, and then set Clear. Clear forgets the
	// creations, now and whenever it happens again. Defaults to Stop.
	// +kubebuilder:validation:Enum=Stop;Clear
	// +optional
	PendingCreates PendingCreatesPolicy `json:"pendingCreates,omitempty"`

	// Suspend stops the controller from starting runs. A run in flight goes on.
	// A suspended Stack that is deleted is not destroyed.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// DependsOn are the Stacks that have to be ready before this one is updated
	// or previewed. It is run as soon as they are. On deletion the order is the
	// other way round: a Stack is not destroyed while another one depends on it.
	// Stacks that depend on each other in a circle are stalled.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	DependsOn []DependencyReference `json:"dependsOn,omitempty"`

	// Prerequisites are the Stacks of the same namespace that must have succeeded
	// before this one is updated or previewed, as the Pulumi operator has them.
	// The order on deletion is as with dependsOn.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	Prerequisites []PrerequisiteReference `json:"prerequisites,omitempty"`

	// WorkspaceTemplate says what the pod is like that the program runs in, with the
	// names of the Pulumi operator: spec.image, imagePullPolicy, env, envFrom,
	// resources, serviceAccountName, and podTemplate as a strategic merge patch. It is
	// for controllers that run programs as Jobs (--runner=job). Where the controller
	// runs programs itself there is no such pod, so a Stack that sets it is not run,
	// and says so. A change of it starts a run.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	WorkspaceTemplate *apiextensionsv1.JSON `json:"workspaceTemplate,omitempty"`

	// WorkspaceReclaimPolicy says whether the Pulumi operator keeps the pod that it
	// runs the program in, Retain or Delete. Here nothing of a run stays when it
	// has ended, so both mean the same.
	// +kubebuilder:validation:Enum=Retain;Delete
	// +optional
	WorkspaceReclaimPolicy string `json:"workspaceReclaimPolicy,omitempty"`

	// UpdateTemplate changes the Update objects of the Pulumi operator, which do
	// not exist here. Where all that it sets is also so here, as with remove, the
	// Stack is run. Otherwise it is not, and names the field to use instead.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	UpdateTemplate *apiextensionsv1.JSON `json:"updateTemplate,omitempty"`
}

// PendingCreatesPolicy says what to do with creations of unknown outcome.
type PendingCreatesPolicy string

const (
	// PendingCreatesStop stalls the Stack until a person has looked.
	PendingCreatesStop PendingCreatesPolicy = "Stop"
	// PendingCreatesClear forgets the creations and goes on.
	PendingCreatesClear PendingCreatesPolicy = "Clear"
)

// Stack is a Pulumi stack whose resources the controller keeps as a program
// says.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=all;fluxcd;fluxcd-appliers
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description=""
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message",description=""
// +kubebuilder:printcolumn:name="Revision",type="string",JSONPath=".status.lastAppliedRevision",priority=1,description=""
type Stack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says which program is run for which stack, and how.
	// +required
	Spec StackSpec `json:"spec"`

	// Status is what the controller has seen and done.
	// +kubebuilder:default:={"observedGeneration":-1}
	Status StackStatus `json:"status,omitempty"`
}

// StackList is a list of Stacks.
//
// +kubebuilder:object:root=true
type StackList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Stack `json:"items"`
}

// GetConditions returns the conditions of the status.
func (in *Stack) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *Stack) SetConditions(conditions []metav1.Condition) { in.Status.Conditions = conditions }

// GetInterval returns the interval, or where none is given, or one that is not
// positive, that of resyncFrequencySeconds, and without that DefaultInterval. It
// is never less than MinInterval.
func (in *Stack) GetInterval() time.Duration {
	def := DefaultInterval
	if resync := seconds(in.Spec.ResyncFrequencySeconds); resync > 0 {
		def = max(MinResyncFrequency, resync)
	}
	return max(MinInterval, positive(in.Spec.Interval, def))
}

// GetRetryInterval returns the retry interval, which defaults to the interval and
// is bounded by retryMaxBackoffDurationSeconds. It is never less than MinInterval.
func (in *Stack) GetRetryInterval() time.Duration {
	retry := positive(in.Spec.RetryInterval, in.GetInterval())
	if bound := seconds(in.Spec.RetryMaxBackoffDurationSeconds); bound > 0 {
		retry = min(retry, bound)
	}
	return max(MinInterval, retry)
}

// GetTimeout returns the bound of a run, DefaultTimeout where none is given.
func (in *Stack) GetTimeout() time.Duration {
	return positive(in.Spec.Timeout, DefaultTimeout)
}

// positive returns the duration, or the default where there is none above zero:
// the pattern of the CRD lets 0s through, which would reconcile without end.
func positive(d *metav1.Duration, def time.Duration) time.Duration {
	if d == nil || d.Duration <= 0 {
		return def
	}
	return d.Duration
}

// seconds returns the duration. What an API server without the bounds of the CRD
// has stored is bounded here too, as it would overflow.
func seconds(n int64) time.Duration {
	const most = 315360000 // ten years, as in the CRD
	return time.Duration(min(max(n, 0), most)) * time.Second
}
