// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Defaults are a template of the administrator, beneath those of the Stacks. The zero value
// is none.
type Defaults struct{ workspace }

// areGiven reports whether there are any.
func (d Defaults) areGiven() bool { return !equality.Semantic.DeepEqual(d, Defaults{}) }

// ReadDefaults reads a template in YAML that has the fields of spec.workspaceTemplate. What
// is refused there is refused here, too.
func ReadDefaults(text []byte, s Settings) (Defaults, error) {
	raw, err := onlyDocument(text)
	if err != nil {
		return Defaults{}, err
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

// onlyDocument returns a text in YAML as JSON. It refuses several documents, of which all but
// one would be ignored.
func onlyDocument(text []byte) ([]byte, error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	only := []byte("null")
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return only, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the YAML: %w", err)
		}
		raw, err := yaml.YAMLToJSONStrict(document)
		switch {
		case err != nil:
			return nil, fmt.Errorf("it is not valid YAML: %w", err)
		case string(raw) == "null":
		case string(only) != "null":
			return nil, errors.New("has several YAML documents: one is expected")
		default:
			only = raw
		}
	}
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
