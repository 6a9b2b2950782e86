// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Defaults are a template of the administrator, beneath those of the Stacks. The zero value
// is none.
type Defaults struct{ workspace }

// ReadDefaults reads a template in YAML that has the fields of spec.workspaceTemplate. What
// is refused there is refused here, too.
func ReadDefaults(text []byte, s Settings) (Defaults, error) {
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return Defaults{}, fmt.Errorf("it is no YAML: %w", err)
	}
	read, err := parseTemplate(raw)
	if err == nil {
		s.Defaults = Defaults{read}
		err = check(s, run.Run{ID: "check", Name: "check", Operation: run.Update})
	}
	if fault := (*TemplateError)(nil); errors.As(err, &fault) {
		return Defaults{}, errors.New(strings.TrimLeft(strings.TrimPrefix(fault.Error(), templateField), ". "))
	}
	return s.Defaults, err
}

// over returns the template of a Stack with what only the defaults have. Both patches of
// the pod are merged later, and so are the resources, see addResources.
func (w workspace) over(defaults workspace) workspace {
	own := w
	own.ServiceAccountName = cmp.Or(w.ServiceAccountName, defaults.ServiceAccountName)
	own.Image = cmp.Or(w.Image, defaults.Image)
	own.ImagePullPolicy = cmp.Or(w.ImagePullPolicy, defaults.ImagePullPolicy)
	own.Env = nil
	for _, variable := range defaults.Env {
		if !slices.ContainsFunc(w.Env, func(v corev1.EnvVar) bool { return v.Name == variable.Name }) {
			own.Env = append(own.Env, variable)
		}
	}
	own.Env = append(own.Env, w.Env...)
	own.EnvFrom = slices.Concat(defaults.EnvFrom, w.EnvFrom) // the last one counts
	return own
}
