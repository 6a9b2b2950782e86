// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// templateField is the field of the template in a Stack.
const templateField = "spec.workspaceTemplate"

// workspace is spec.workspaceTemplate.spec, with the names of the Pulumi operator. Its
// podTemplate is a patch and not a list of supported fields: templates of the operator with
// sidecars, init containers, volumes or scheduling of any kind work here as they are.
type workspace struct {
	// jobMetadata is the metadata of the operator's Workspace object, which the Job
	// replaces.
	jobMetadata        jobMetadata
	ServiceAccountName string                      `json:"serviceAccountName"`
	Image              string                      `json:"image"`
	ImagePullPolicy    corev1.PullPolicy           `json:"imagePullPolicy"`
	SecurityProfile    string                      `json:"securityProfile"`
	Env                []corev1.EnvVar             `json:"env"`
	EnvFrom            []corev1.EnvFromSource      `json:"envFrom"`
	Resources          corev1.ResourceRequirements `json:"resources"`
	// PodTemplate is a strategic merge patch of the pod template.
	PodTemplate json.RawMessage `json:"podTemplate"`
}

// jobMetadata is for everything that selects Jobs, such as a queue that a label names.
type jobMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// TemplateError is a fault in spec.workspaceTemplate.
type TemplateError struct{ Field, Problem string }

func (e *TemplateError) Error() string { return e.Field + " " + e.Problem }

// parseTemplate reads spec.workspaceTemplate. It returns a TemplateError that names each
// field that is not supported, instead of dropping it.
func parseTemplate(raw json.RawMessage) (workspace, error) {
	var read workspace
	if len(raw) > maxTemplate {
		return read, &TemplateError{templateField, fmt.Sprintf("has more than %d bytes: move long values into a ConfigMap", maxTemplate)}
	}
	if err := checkLists(templateField, raw); err != nil {
		return read, err
	}
	outer, err := membersOf(templateField, raw)
	if err != nil {
		return read, err
	}
	for _, key := range slices.Sorted(maps.Keys(outer)) {
		if key != "spec" && key != "metadata" {
			return read, &TemplateError{templateField + "." + key, "is not known: remove it"}
		}
	}
	if err := read.jobMetadata.read(templateField+".metadata", outer["metadata"]); err != nil {
		return read, err
	}
	field := templateField + ".spec"
	inner, err := membersOf(field, outer["spec"])
	if err != nil {
		return read, err
	}
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		if problem := refusedMember(key); problem != "" {
			return read, &TemplateError{field + "." + key, problem}
		}
	}
	if err := strictly(outer["spec"], &read); err != nil {
		return read, &TemplateError{field, fmt.Sprintf("cannot be read: %v", err)}
	}
	if _, err := membersOf(field+".podTemplate", read.PodTemplate); err != nil {
		return read, err
	}
	return read, read.check(field)
}

// read reads labels and annotations. It ignores the rest of the metadata, such as a name,
// which is only meaningful for the operator.
func (m *jobMetadata) read(field string, raw json.RawMessage) error {
	members, err := membersOf(field, raw)
	if err != nil {
		return err
	}
	if m.Labels, err = textsOf(field+".labels", members["labels"]); err != nil {
		return err
	}
	if m.Annotations, err = textsOf(field+".annotations", members["annotations"]); err != nil {
		return err
	}
	return possibleMetadata(field, "a Job", m.Labels, m.Annotations)
}

// possibleMetadata refuses what the API server would reject in each run: only another
// template helps. on names the kind that carries the metadata.
func possibleMetadata(at, on string, labels, annotations map[string]string) error {
	if err := possible(at+".labels", on, metavalidation.ValidateLabels(labels, nil)); err != nil {
		return err
	}
	return possible(at+".annotations", on, validation.ValidateAnnotations(annotations, nil))
}

func possible(at, on string, faults field.ErrorList) error {
	if len(faults) == 0 {
		return nil
	}
	slices.SortFunc(faults, func(a, b *field.Error) int { return strings.Compare(a.ErrorBody(), b.ErrorBody()) })
	return &TemplateError{at, oneLine("cannot be set on " + on + ": " + faults[0].ErrorBody())}
}

// onto sets the labels and annotations on the Job. Those of the controller stay as they
// are: a tool that renders the manifest may set them on everything.
func (m jobMetadata) onto(job *batchv1.Job) {
	for key, value := range m.Labels {
		if !isReserved(key) {
			metav1.SetMetaDataLabel(&job.ObjectMeta, key, value)
		}
	}
	for key, value := range m.Annotations {
		if !isReserved(key) {
			metav1.SetMetaDataAnnotation(&job.ObjectMeta, key, value)
		}
	}
}

// refusedMember returns what to do instead of using a field of the operator, "" for a
// field that is supported.
func refusedMember(key string) string {
	switch key {
	case "serviceAccountName", "image", "imagePullPolicy", "securityProfile", "env", "envFrom", "resources", "podTemplate":
		return ""
	case "git", "flux", "local":
		return "is a source: use projectRepo, fluxSource or programRef instead"
	case "stacks":
		return "is the stack itself: use instead spec.stack, spec.config, spec.secretsRef, spec.environment and spec.secretsProvider"
	case "pulumiLogLevel":
		return "cannot be set: remove it"
	case "serviceTemplate":
		return "is for a Service, which runs do not have: remove it"
	}
	return "is not known: remove it"
}

func (w workspace) check(field string) error {
	switch w.SecurityProfile {
	case "", "restricted":
	default:
		return &TemplateError{field + ".securityProfile", fmt.Sprintf("cannot be %q: --runner-pod-security sets the level of all pods: remove it", w.SecurityProfile)}
	}
	switch w.ImagePullPolicy {
	case "", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
	default:
		return &TemplateError{field + ".imagePullPolicy", fmt.Sprintf("cannot be %q: use Always, IfNotPresent or Never", w.ImagePullPolicy)}
	}
	if err := checkEnv(field+".env", w.Env); err != nil {
		return err
	}
	return checkEnvFrom(field+".envFrom", w.EnvFrom)
}

// checkEnvFrom refuses variables from Secrets, whose values the controller could not
// mask.
func checkEnvFrom(field string, from []corev1.EnvFromSource) error {
	for _, source := range from {
		if source.SecretRef != nil {
			return &TemplateError{field, fmt.Sprintf("cannot have Secret %q, as its values would not be hidden in logs and messages: "+
				"use spec.envSecrets", source.SecretRef.Name)}
		}
	}
	return nil
}

// membersOf reads an object, which may be missing.
func membersOf(field string, raw json.RawMessage) (map[string]json.RawMessage, error) {
	text := bytes.TrimSpace(raw)
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, &TemplateError{field, "is not an object: remove it"}
	}
	return members, nil
}

// textsOf reads an object of strings, which may be missing.
func textsOf(field string, raw json.RawMessage) (map[string]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var texts map[string]string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return nil, &TemplateError{field, "is not a map of strings: put each value in quotes"}
	}
	return texts, nil
}

// strictly rejects unknown fields.
func strictly(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
