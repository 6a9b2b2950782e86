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

// onto applies the fields of a template to the container of the run, over what it has. The patch
// of the pod comes after them.
func (w workspace) onto(main *corev1.Container) {
	main.Image = cmp.Or(w.Image, main.Image)
	main.ImagePullPolicy = cmp.Or(w.ImagePullPolicy, main.ImagePullPolicy)
	for _, variable := range w.Env {
		main.Env = slices.DeleteFunc(main.Env, func(v corev1.EnvVar) bool { return v.Name == variable.Name })
	}
	main.Env = slices.Concat(main.Env, w.Env)
	main.EnvFrom = slices.Concat(main.EnvFrom, w.EnvFrom) // the last one counts
	main.Resources = w.Resources
}
