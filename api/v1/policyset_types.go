// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PolicySetKind is the kind of a PolicySet.
const PolicySetKind = "PolicySet"

// PolicyEnforcement is what follows from the violation of a policy.
// +kubebuilder:validation:Enum=Enforce;Warn
type PolicyEnforcement string

const (
	// PolicyEnforce runs each update and preview with the packs, so that a
	// violation of a mandatory policy fails it.
	PolicyEnforce PolicyEnforcement = "Enforce"
	// PolicyWarn only reports violations.
	PolicyWarn PolicyEnforcement = "Warn"
)

// PolicySetSpec selects Stacks and the policy packs that guard them.
type PolicySetSpec struct {
	// NamespaceSelector selects Stacks by the labels of their namespace. Empty
	// or unset, it selects all namespaces.
	// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || self.matchLabels.all(key, dyn(self.matchLabels[key]) != null)",message="matchLabels has an entry that is null: give it a value, or remove it"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? (has(e.values) && size(e.values) > 0) : (e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0)))",message="matchExpressions need the operator In or NotIn with values, or Exists or DoesNotExist without"
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// StackSelector selects Stacks by their own labels, which everyone who can
	// edit a Stack can change. Empty or unset, it selects all Stacks of the
	// namespaces.
	// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || self.matchLabels.all(key, dyn(self.matchLabels[key]) != null)",message="matchLabels has an entry that is null: give it a value, or remove it"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? (has(e.values) && size(e.values) > 0) : (e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0)))",message="matchExpressions need the operator In or NotIn with values, or Exists or DoesNotExist without"
	// +optional
	StackSelector *metav1.LabelSelector `json:"stackSelector,omitempty"`

	// Enforcement is what follows from a violation of a mandatory policy.
	// Enforce: each update and preview of a selected Stack runs with the packs,
	// and fails. A Stack whose packs cannot be used is not updated. Warn:
	// updates run without the packs, and a check of the Stack reports what would
	// fail. Defaults to Enforce.
	// +kubebuilder:default:=Enforce
	// +optional
	Enforcement PolicyEnforcement `json:"enforcement,omitempty"`

	// Packs are the policy packs, by name.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	// +required
	Packs []PolicyPack `json:"packs"`
}

// PolicyPack is a policy pack of Pulumi, from a Flux source.
type PolicyPack struct {
	// Name of the pack in this PolicySet.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be of lower-case letters, digits and hyphens, with a letter or digit at both ends"
	// +required
	Name string `json:"name"`

	// SourceRef names the Flux source with the pack.
	// +required
	SourceRef PolicySourceReference `json:"sourceRef"`

	// Dir is the directory of the pack, the one that contains
	// PulumiPolicy.yaml, relative to the root of the source. It cannot point
	// outside the source. Defaults to the root.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Dir string `json:"dir,omitempty"`

	// Config of the policies, by name, as in a config file of Pulumi: each an
	// object, with the level of the policy in enforcementLevel, which is
	// advisory, mandatory, remediate or disabled, beside its own config. The
	// name all stands for each policy that has no level of its own. A policy
	// that is not named has the level and the config that the pack gives it.
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(name, size(name) > 0)",message="has an empty key: use the name of a policy, or all"
	// +kubebuilder:validation:XValidation:rule="!('environments' in self)",message="has environments, which Pulumi takes for environments of Pulumi ESC: they are not supported, remove them"
	// +kubebuilder:validation:XValidation:rule="self.all(name, dyn(self[name]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(name, dyn(self[name]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`

	// ConfigFrom takes config from a ConfigMap, also in the short form of Pulumi:
	// a level in place of an object. What config has for a policy replaces what
	// the ConfigMap has for it.
	// +optional
	ConfigFrom *PolicyConfigReference `json:"configFrom,omitempty"`
}

// PolicySourceReference names a Flux source in any namespace.
type PolicySourceReference struct {
	// APIVersion of the source, for example source.toolkit.fluxcd.io/v1. Only
	// its group matters. Defaults to the group source.toolkit.fluxcd.io.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// Kind of the source.
	// +kubebuilder:validation:Enum=GitRepository;OCIRepository;Bucket;ExternalArtifact
	// +required
	Kind string `json:"kind"`

	// Name of the source.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of an object: lower-case letters, digits, hyphens and dots, with a letter or digit at both ends"
	// +required
	Name string `json:"name"`

	// Namespace of the source. Whoever can edit the source can change the
	// packs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a namespace: lower-case letters, digits and hyphens, with a letter or digit at both ends"
	// +required
	Namespace string `json:"namespace"`
}

// PolicyConfigReference names where config comes from.
type PolicyConfigReference struct {
	// ConfigMap names a key of a ConfigMap, whose value is a JSON or YAML object.
	// +required
	ConfigMap PolicyConfigMapReference `json:"configMap"`
}

// PolicyConfigMapReference names a key of a ConfigMap in any namespace.
type PolicyConfigMapReference struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of an object: lower-case letters, digits, hyphens and dots, with a letter or digit at both ends"
	// +required
	Name string `json:"name"`

	// Namespace of the ConfigMap. Whoever can edit the ConfigMap can disable
	// the policies that config does not name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a namespace: lower-case letters, digits and hyphens, with a letter or digit at both ends"
	// +required
	Namespace string `json:"namespace"`

	// Key in the data of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Key string `json:"key"`
}

// PolicySet guards the Stacks that it selects with policy packs of Pulumi: each
// update and preview of them runs with the packs, and a violation of a mandatory
// policy fails it. No field of a Stack takes the packs off. Whoever chooses the
// image or the pod of a run chooses what checks the policies: with --runner=job,
// have an admission policy restrict spec.workspaceTemplate.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:scope=Cluster,categories=fluxcd
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description=""
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message",description=""
// +kubebuilder:printcolumn:name="Enforcement",type="string",JSONPath=".spec.enforcement",description=""
// +kubebuilder:printcolumn:name="Stacks",type="integer",JSONPath=".status.stacks",description=""
// +kubebuilder:printcolumn:name="Violating",type="integer",JSONPath=".status.violating",description=""
// +kubebuilder:printcolumn:name="Unchecked",type="integer",JSONPath=".status.unchecked",priority=1,description=""
type PolicySet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec selects Stacks and the policy packs that guard them.
	// +required
	Spec PolicySetSpec `json:"spec"`

	// Status is what the controller has observed.
	// +kubebuilder:default:={"observedGeneration":-1}
	Status PolicySetStatus `json:"status,omitempty"`
}

// PolicySetList is a list of PolicySets.
//
// +kubebuilder:object:root=true
type PolicySetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PolicySet `json:"items"`
}

// Enforces reports whether a violation fails updates and previews.
func (in *PolicySet) Enforces() bool { return in.Spec.Enforcement != PolicyWarn }

// GetConditions returns the conditions of the PolicySet.
func (in *PolicySet) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the PolicySet.
func (in *PolicySet) SetConditions(conditions []metav1.Condition) { in.Status.Conditions = conditions }

// Source returns the reference as that of an object in the namespace of the
// source.
func (in PolicySourceReference) Source() SourceReference {
	return SourceReference(in)
}
