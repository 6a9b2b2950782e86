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

// templateField is where a Stack has it.
const templateField = "spec.workspaceTemplate"

// workspace is what spec.workspaceTemplate.spec may say, with the names of the Pulumi
// operator.
type workspace struct {
	// jobMetadata is that of the operator's Workspace object, in whose place the Job is.
	jobMetadata        jobMetadata
	ServiceAccountName string                      `json:"serviceAccountName"`
	Image              string                      `json:"image"`
	ImagePullPolicy    corev1.PullPolicy           `json:"imagePullPolicy"`
	SecurityProfile    string                      `json:"securityProfile"`
	Env                []corev1.EnvVar             `json:"env"`
	EnvFrom            []corev1.EnvFromSource      `json:"envFrom"`
	Resources          corev1.ResourceRequirements `json:"resources"`
	// PodTemplate is a strategic merge patch of the pod's template.
	PodTemplate json.RawMessage `json:"podTemplate"`
}

// jobMetadata is for what looks at Jobs, such as a queue that is named by a label.
type jobMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// TemplateError is a fault of spec.workspaceTemplate.
type TemplateError struct{ Field, Problem string }

func (e *TemplateError) Error() string { return e.Field + " " + e.Problem }

// parseTemplate reads spec.workspaceTemplate. An error is a TemplateError: what is not
// honoured is refused by its name and not dropped.
func parseTemplate(raw json.RawMessage) (workspace, error) {
	var read workspace
	if len(raw) > maxTemplate {
		return read, &TemplateError{templateField, fmt.Sprintf("has more than %d bytes: put what is long into a ConfigMap", maxTemplate)}
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

// read reads labels and annotations. What else the metadata of an object has, such as its
// name, is that of the operator's.
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

// possibleMetadata refuses what the API server would, with each run: nothing but another
// template mends it. on is what they are set on.
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

// onto sets them on the Job, beside those of the controller, which stay as they are: what
// makes a manifest of the operator's may set them on all that it makes.
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

// refusedMember tells what to do in place of a field of the operator's, "" for one
// that is honoured.
func refusedMember(key string) string {
	switch key {
	case "serviceAccountName", "image", "imagePullPolicy", "securityProfile", "env", "envFrom", "resources", "podTemplate":
		return ""
	case "git", "flux", "local":
		return "is a source: remove it, and use projectRepo, fluxSource or programRef"
	case "stacks":
		return "is the stack itself: remove it, and use spec.stack, spec.config, spec.secretsRef, spec.environment and spec.secretsProvider"
	case "pulumiLogLevel":
		return "cannot be set: remove it"
	case "serviceTemplate":
		return "is of a Service, and nothing listens here: remove it"
	}
	return "is not known: remove it"
}

func (w workspace) check(field string) error {
	switch w.SecurityProfile {
	case "", "restricted":
	default:
		return &TemplateError{field + ".securityProfile", fmt.Sprintf("cannot be %q: what pods may do is set for all by --runner-pod-security: remove it", w.SecurityProfile)}
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

// checkEnvFrom refuses variables whose values nobody knows to be secret.
func checkEnvFrom(field string, from []corev1.EnvFromSource) error {
	for _, source := range from {
		if source.SecretRef != nil {
			return &TemplateError{field, fmt.Sprintf("cannot have Secret %q, as its values would not be hidden in logs and messages: "+
				"use spec.envSecrets", source.SecretRef.Name)}
		}
	}
	return nil
}

// membersOf reads an object that may be missing.
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

// textsOf reads an object of texts that may be missing.
func textsOf(field string, raw json.RawMessage) (map[string]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var texts map[string]string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return nil, &TemplateError{field, "is not an object of texts: put each value in quotes"}
	}
	return texts, nil
}

// strictly reads what has no fields that are not known.
func strictly(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
