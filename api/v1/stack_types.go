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
	// DefaultInterval is the interval of a Stack without one.
	DefaultInterval = 10 * time.Minute

	// MinInterval is the shortest interval and retry interval: a shorter one
	// counts as this.
	MinInterval = time.Second

	// MinResyncFrequency is the shortest interval that resyncFrequencySeconds
	// gives: a shorter one counts as this, as in the Pulumi operator.
	MinResyncFrequency = time.Minute

	// DefaultTimeout limits a run of a Stack without a timeout.
	DefaultTimeout = time.Hour

	// DefaultBackend is the backend of a Stack without one: Pulumi Cloud.
	DefaultBackend = "https://api.pulumi.com"
)

// StackSpec defines which program runs for which stack, and how.
// +kubebuilder:validation:XValidation:rule="[has(self.fluxSource), has(self.programRef), has(self.projectRepo) && size(self.projectRepo) > 0].filter(x, x).size() == 1 || (has(self.workspaceTemplate) && !has(self.fluxSource) && !has(self.programRef))",message="exactly one of fluxSource, programRef and projectRepo is required"
// +kubebuilder:validation:XValidation:rule="!(has(self.branch) && size(self.branch) > 0 && has(self.commit) && size(self.commit) > 0)",message="branch and commit cannot both be set: remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.projectRepo) || size(self.projectRepo) == 0 || (has(self.branch) && size(self.branch) > 0) || (has(self.commit) && size(self.commit) > 0)",message="projectRepo needs a branch or a commit: add one"
// +kubebuilder:validation:XValidation:rule="(has(self.projectRepo) && size(self.projectRepo) > 0) || !((has(self.branch) && size(self.branch) > 0) || (has(self.commit) && size(self.commit) > 0) || (has(self.repoDir) && size(self.repoDir) > 0) || has(self.gitAuth) || (has(self.gitAuthSecret) && size(self.gitAuthSecret) > 0))",message="branch, commit, repoDir, gitAuth and gitAuthSecret belong to projectRepo: remove them, or add projectRepo"
// +kubebuilder:validation:XValidation:rule="!has(self.secrets) || !has(self.secretsRef) || !self.secrets.exists(key, key in self.secretsRef)",message="secrets and secretsRef have the same key: remove one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.secrets) || !has(self.configRef) || !self.secrets.exists(key, key in self.configRef)",message="secrets and configRef have the same key: remove one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.secretsRef) || !has(self.configRef) || !self.secretsRef.exists(key, key in self.configRef)",message="secretsRef and configRef have the same key: remove one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.previewOf) || (has(self.preview) && self.preview)",message="previewOf belongs to a Stack with preview: true: set preview, or remove previewOf"
type StackSpec struct {
	// Stack is the name of the stack in the backend: <stack>, <org>/<stack> or
	// <org>/<project>/<stack>. It is immutable: another name is another stack,
	// and this one would be left behind with everything that it manages.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9_.-]{1,100}/){0,2}[A-Za-z0-9_.-]{1,100}$')",message="must be <stack>, <org>/<stack> or <org>/<project>/<stack>, each of at most 100 letters, digits, hyphens, underscores and periods"
	// +kubebuilder:validation:XValidation:rule="!self.split('/').exists(part, part == '.' || part == '..')",message="a stack, its project and its organization cannot be named . or .."
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="stack cannot be changed: the stack under the old name would be left behind; delete this Stack and make another"
	// +required
	Stack string `json:"stack"`

	// Backend is the URL of the backend that keeps the state of the stack, for
	// example s3://bucket, gs://bucket, azblob://container or file:///path. The
	// path of a directory is absolute: another one would go with the run. It
	// overrides the backend in the program's Pulumi.yaml. Defaults to the
	// variable PULUMI_BACKEND_URL of the Stack, and without that to Pulumi
	// Cloud, https://api.pulumi.com.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^(https|http|file|s3|gs|azblob|postgres)://')",message="must be a URL that begins with https://, http://, file://, s3://, gs://, azblob:// or postgres://"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('file://') || self.startsWith('file:///')",message="is a relative path of a directory, which would be deleted with the run: use file:///<directory>"
	// +optional
	Backend string `json:"backend,omitempty"`

	// FluxSource takes the program from a Flux source. The controller applies
	// every new revision of the source.
	// +optional
	FluxSource *FluxSource `json:"fluxSource,omitempty"`

	// ProgramRef takes the program from a Program in the same namespace. The
	// controller applies every edit of the Program.
	// +optional
	ProgramRef *ProgramReference `json:"programRef,omitempty"`

	GitSource `json:",inline"`

	// AccessTokenSecret names a Secret in the namespace of the Stack whose key
	// accessToken is the PULUMI_ACCESS_TOKEN for Pulumi Cloud. An entry of
	// envRefs with that name takes precedence. It is deprecated: use envRefs.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	AccessTokenSecret string `json:"accessTokenSecret,omitempty"`

	// Envs names ConfigMaps in the namespace of the Stack: each key is an
	// environment variable, as in envRefs. A key that is not a C identifier is
	// skipped. If two have the same key, the later one wins. A change of a
	// ConfigMap starts a run. For single keys, or other names, use envRefs.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	Envs []string `json:"envs,omitempty"`

	// EnvSecrets names Secrets in the namespace of the Stack: each key is an
	// environment variable, as in envRefs. A key that is not a C identifier is
	// skipped. If two have the same key, the later one wins. They take
	// precedence over envs. A change of a Secret starts a run. For single
	// keys, or other names, use envRefs.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	EnvSecrets []string `json:"envSecrets,omitempty"`

	// EnvRefs are the environment variables of Pulumi, its providers and the
	// program, by name, which must be a C identifier. Set cloud credentials and
	// PULUMI_CONFIG_PASSPHRASE here. The environment of the controller is not
	// passed on, except for values that type Env asks for. An entry takes
	// precedence over envs, envSecrets and accessTokenSecret.
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[A-Za-z_][A-Za-z0-9_]*$'))",message="the name of an environment variable must consist of letters, digits and underscores, and must not start with a digit"
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	EnvRefs map[string]ResourceRef `json:"envRefs,omitempty"`

	// Config are the config values of the stack, by key: <key> of the project,
	// or <namespace>:<key>. Numbers, booleans, lists and objects keep their
	// type. A value cannot be null.
	// +kubebuilder:validation:MaxProperties=1024
	// +optional
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`

	// ConfigRef are config values of the stack from ConfigMaps in the same
	// namespace, by key as in config. A key cannot be in config as well. A
	// change of a ConfigMap starts a run.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) > 0)",message="has an empty key: give the config value a name, or remove it"
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) == 0 || key.matches('^[^:]+(:(config:)?[^:]+)?$'))",message="has a key that is not a config key: use <key> for a value of the project, or <namespace>:<key>"
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	ConfigRef map[string]ConfigMapRef `json:"configRef,omitempty"`

	// SecretsRef are the secret config values of the stack, by key. Pulumi keeps
	// them encrypted.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) > 0)",message="has an empty key: give the config value a name, or remove it"
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) == 0 || key.matches('^[^:]+(:(config:)?[^:]+)?$'))",message="has a key that is not a config key: use <key> for a value of the project, or <namespace>:<key>"
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	SecretsRef map[string]ResourceRef `json:"secretsRef,omitempty"`

	// Secrets are secret config values of the stack, by key, in the Stack
	// itself, where everyone who can read Stacks can read them. A key cannot be
	// in secretsRef, config or configRef as well. It is deprecated: use
	// secretsRef.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) > 0)",message="has an empty key: give the config value a name, or remove it"
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) == 0 || key.matches('^[^:]+(:(config:)?[^:]+)?$'))",message="has a key that is not a config key: use <key> for a value of the project, or <namespace>:<key>"
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	Secrets map[string]string `json:"secrets,omitempty"`

	// SecretsProvider selects how Pulumi encrypts the secrets of the stack:
	// passphrase, default, which is the default of the backend, or the URL of a
	// key: awskms://..., azurekeyvault://..., gcpkms://... or hashivault://....
	// Its credentials are variables of the Stack. If the stack uses another
	// provider, the next update changes it over, and needs the credentials of
	// both. Defaults to the provider in the program's Pulumi.<stack>.yaml, and
	// without that to the current one of the stack.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^(passphrase$|default$|(awskms|azurekeyvault|gcpkms|hashivault)://)')",message="must be passphrase, default, or the URL of a key: awskms://, azurekeyvault://, gcpkms:// or hashivault://"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/?#]*@')",message="contains a user or a password, which anyone who can read the Stack would see: set credentials in envRefs"
	// +optional
	SecretsProvider string `json:"secretsProvider,omitempty"`

	// Environment are the Pulumi ESC environments whose values the stack gets
	// as config and environment variables. They are added after those in the
	// program's own Pulumi.<stack>.yaml. They require Pulumi Cloud as the
	// backend. A change within an environment does not start a run.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	// +optional
	Environment []string `json:"environment,omitempty"`

	// WriteOutputsToSecret writes the outputs of the stack, including secret
	// ones, to a Secret: strings as they are, other values as JSON. Defaults to
	// none.
	// +optional
	WriteOutputsToSecret *OutputsSecret `json:"writeOutputsToSecret,omitempty"`

	// UseLocalStackOnly never creates the stack: a stack that is not in its
	// backend is an error. Defaults to false.
	// +optional
	UseLocalStackOnly bool `json:"useLocalStackOnly,omitempty"`

	// DestroyOnFinalize destroys what the stack manages, and removes the stack
	// from its backend, when the Stack object is deleted. The object remains
	// until that is done. Without it, deleting the Stack touches nothing.
	// +optional
	DestroyOnFinalize bool `json:"destroyOnFinalize,omitempty"`

	// Refresh reads the actual state of the resources before each update
	// (pulumi up --refresh), and before the destroy, so that changes made
	// outside of Pulumi are undone. It calls the provider for each resource. It
	// does not start runs by itself: see continueResyncOnCommitMatch. Defaults
	// to false.
	// +optional
	Refresh bool `json:"refresh,omitempty"`

	// ExpectNoRefreshChanges fails a run, before anything is updated, when the
	// refresh finds changes made outside of Pulumi. The state is left as it is,
	// so the Stack keeps failing, with reason RefreshFailed, until the change
	// is undone or this field is removed. It takes one more Pulumi process in
	// each run, and has no effect in a run that does not refresh, because of
	// refresh or of the options in Pulumi.yaml, or in a destroy. Defaults to
	// false.
	// +optional
	ExpectNoRefreshChanges bool `json:"expectNoRefreshChanges,omitempty"`

	// Targets are the URNs of the only resources to update and to refresh. A *
	// stands for any part of a name, ** for any part of a URN. With refresh,
	// each must already be in the state, except in the run that creates the
	// stack. The targets do not limit the destroy of a deleted Stack. Defaults
	// to all resources.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	Targets []string `json:"targets,omitempty"`

	// TargetDependents also updates the resources that depend on the targets.
	// It has no effect without targets. Defaults to false.
	// +optional
	TargetDependents bool `json:"targetDependents,omitempty"`

	// ContinueResyncOnCommitMatch runs the program again at each interval, even
	// if nothing has changed. With refresh, that undoes drift. Defaults to
	// false: a run starts only if something has changed.
	// +optional
	ContinueResyncOnCommitMatch bool `json:"continueResyncOnCommitMatch,omitempty"`

	// RunProgram runs the program to get the settings of its providers, where
	// Pulumi would otherwise take them from the state: in a destroy, a refresh,
	// a recovery and a check for drift. Use it for credentials that the program itself creates
	// and that expire. The destroy of a deleted Stack then needs the program
	// and its config, and waits for them if they are gone. Defaults to false: a
	// destroy needs only the state.
	// +optional
	RunProgram bool `json:"runProgram,omitempty"`

	// Preview only reports what an update would do (pulumi preview), in the
	// message of the Ready condition. Nothing is created, changed or destroyed,
	// not even when the Stack is deleted with destroyOnFinalize, and no lock is
	// taken. The stack must exist in the backend: a preview does not create it.
	// Defaults to false.
	// +optional
	Preview bool `json:"preview,omitempty"`

	// PreviewOf names the Stack that runs the previewed change after the merge
	// of a pull request. The plan in status.plan then has the digest that the
	// same change has there, so that it can be approved before the merge:
	// whatever decides on the digest but the program is taken from that Stack.
	// Both need the same stack and backend, and that Stack has to allow it with
	// spec.approval.previewNamespaces if it is in another namespace. It needs
	// preview. Defaults to none.
	// +optional
	PreviewOf *PreviewedStackReference `json:"previewOf,omitempty"`

	// Approval holds back updates, and the destroy of the stack, until a person
	// has approved what they would do. Defaults to none.
	// +optional
	Approval *Approval `json:"approval,omitempty"`

	// Drift looks for changes made outside of Pulumi, on a schedule of its own,
	// with pulumi refresh --preview-only: the program does not run, unless
	// runProgram is set, and neither the resources nor the state are changed.
	// Defaults to none.
	// +optional
	Drift *Drift `json:"drift,omitempty"`

	// History controls how many runs are recorded, and whether the record
	// outlives the Stack. Without it, the last 20 are kept until the Stack is
	// deleted. A change starts no run.
	// +optional
	History *History `json:"history,omitempty"`

	// RetryOnUpdateConflict retries sooner while another user of Pulumi holds
	// the lock of the stack: after 5s, and then with twice the delay each time, up to the
	// retryInterval. Without it, the controller retries at the retryInterval.
	// It never breaks the lock of another user. Defaults to false.
	// +optional
	RetryOnUpdateConflict bool `json:"retryOnUpdateConflict,omitempty"`

	// ServiceAccountName is the service account, in the namespace of the Stack,
	// whose permissions in this cluster the program gets: during each run,
	// $HOME/.kube/config is a kubeconfig with a short-lived token. If runs are
	// Jobs, it is the account of their pods, too. Defaults to
	// the controller's --default-service-account. Without either, the program
	// has no access to the cluster.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$')",message="must be the name of a service account: lower-case letters, digits, hyphens and periods, with a letter or digit at both ends"
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Interval is how often the Stack is reconciled without any other trigger.
	// A run starts at that time only if something has changed, or
	// continueResyncOnCommitMatch is set. Less than 1s counts as 1s, and 0 as
	// not set. Defaults to resyncFrequencySeconds, and without that to 10m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,7}([.][0-9]{1,9})?m|[0-9]{1,5}([.][0-9]{1,9})?h){1,8}$')",message="must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// ResyncFrequencySeconds is the interval in seconds, if interval is not
	// set. Less than 60 counts as 60, and 0 as not set. It is deprecated: use
	// interval.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=315360000
	// +optional
	ResyncFrequencySeconds int64 `json:"resyncFrequencySeconds,omitempty"`

	// RetryInterval is how long to wait before retrying a failed run, or a
	// reference that cannot be resolved. A run that could not start because the
	// backend, a plugin registry or the artifact was unavailable is retried
	// sooner: after 10s, and then with twice the delay each time, up to the
	// retryInterval. Less than 1s counts as 1s, and 0 as not set. Defaults to
	// the interval.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,7}([.][0-9]{1,9})?m|[0-9]{1,5}([.][0-9]{1,9})?h){1,8}$')",message="must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	// +optional
	RetryInterval *metav1.Duration `json:"retryInterval,omitempty"`

	// RetryMaxBackoffDurationSeconds limits the retry interval, in seconds.
	// Defaults to no limit. It is deprecated: use retryInterval.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=315360000
	// +optional
	RetryMaxBackoffDurationSeconds int64 `json:"retryMaxBackoffDurationSeconds,omitempty"`

	// Timeout limits the duration of a run. After the timeout, the controller
	// stops Pulumi, which finishes the operations in flight and saves the state.
	// Defaults to 1h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,7}([.][0-9]{1,9})?m|[0-9]{1,5}([.][0-9]{1,9})?h){1,8}$')",message="must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// PendingCreates controls what happens when it is unknown whether a
	// resource was created, because the provider, Pulumi or the controller was
	// killed during the creation. Running the program again may create it
	// twice. Stop stalls the Stack and names the resources: look for them at
	// their provider, import or delete what exists, and then set Clear. Clear
	// forgets the creations, now and whenever it happens again. Defaults to
	// Stop.
	// +kubebuilder:validation:Enum=Stop;Clear
	// +optional
	PendingCreates PendingCreatesPolicy `json:"pendingCreates,omitempty"`

	// Suspend stops the controller from starting runs. A run in flight
	// continues. A suspended Stack that is deleted is not destroyed.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// DependsOn are the Stacks that must be ready before this one is updated or
	// previewed. It runs as soon as they are. On deletion the order is
	// reversed: a Stack is not destroyed while another one depends on it.
	// Stacks that depend on each other in a cycle are stalled.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	DependsOn []DependencyReference `json:"dependsOn,omitempty"`

	// Prerequisites are the Stacks in the same namespace that must have
	// succeeded before this one is updated or previewed, as in the Pulumi
	// operator. The order on deletion is as with dependsOn.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	Prerequisites []PrerequisiteReference `json:"prerequisites,omitempty"`

	// WorkspaceTemplate configures the pod that the program runs in, with the
	// field names of the Pulumi operator: spec.image, imagePullPolicy, env,
	// envFrom, resources, serviceAccountName, and podTemplate as a strategic
	// merge patch. It requires a controller that runs programs as Jobs
	// (--runner=job). If the controller runs programs itself, there is no such
	// pod: a Stack that sets the field does not run, and says so. A change
	// starts a run.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	WorkspaceTemplate *apiextensionsv1.JSON `json:"workspaceTemplate,omitempty"`

	// WorkspaceReclaimPolicy says whether the Pulumi operator keeps the pod
	// that it runs the program in, Retain or Delete. This controller keeps
	// nothing of a run that has ended, so both values mean the same.
	// +kubebuilder:validation:Enum=Retain;Delete
	// +optional
	WorkspaceReclaimPolicy string `json:"workspaceReclaimPolicy,omitempty"`

	// UpdateTemplate customizes the Update objects of the Pulumi operator,
	// which do not exist here. If everything that it sets holds here anyway, as
	// with remove, the Stack runs. Otherwise it does not run, and names the
	// field to use instead.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	UpdateTemplate *apiextensionsv1.JSON `json:"updateTemplate,omitempty"`
}

// PendingCreatesPolicy controls what happens to creations with an unknown
// outcome.
type PendingCreatesPolicy string

const (
	// PendingCreatesStop stalls the Stack until a person has checked.
	PendingCreatesStop PendingCreatesPolicy = "Stop"
	// PendingCreatesClear forgets the creations and continues.
	PendingCreatesClear PendingCreatesPolicy = "Clear"
)

// Stack runs a Pulumi program for a stack, so that its resources match the
// program.
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

	// Spec defines which program runs for which stack, and how.
	// +required
	Spec StackSpec `json:"spec"`

	// Status is what the controller has observed and done.
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

// GetInterval returns the interval. If none is set, or it is not positive, it
// returns that of resyncFrequencySeconds, and without that DefaultInterval. It
// is never less than MinInterval.
func (in *Stack) GetInterval() time.Duration {
	def := DefaultInterval
	if resync := seconds(in.Spec.ResyncFrequencySeconds); resync > 0 {
		def = max(MinResyncFrequency, resync)
	}
	return max(MinInterval, positive(in.Spec.Interval, def))
}

// GetRetryInterval returns the retry interval, which defaults to the interval
// and is limited by retryMaxBackoffDurationSeconds. It is never less than
// MinInterval.
func (in *Stack) GetRetryInterval() time.Duration {
	retry := positive(in.Spec.RetryInterval, in.GetInterval())
	if bound := seconds(in.Spec.RetryMaxBackoffDurationSeconds); bound > 0 {
		retry = min(retry, bound)
	}
	return max(MinInterval, retry)
}

// GetTimeout returns the limit of a run, or DefaultTimeout if none is set.
func (in *Stack) GetTimeout() time.Duration {
	return positive(in.Spec.Timeout, DefaultTimeout)
}

// positive returns the duration, or the default if it is not above zero: the
// pattern of the CRD accepts 0s, which would reconcile without end.
func positive(d *metav1.Duration, def time.Duration) time.Duration {
	if d == nil || d.Duration <= 0 {
		return def
	}
	return d.Duration
}

// seconds returns the duration. It also limits what an API server without the
// limits of the CRD has stored, which would overflow.
func seconds(n int64) time.Duration {
	const most = 315360000 // ten years, as in the CRD
	return time.Duration(min(max(n, 0), most)) * time.Second
}
