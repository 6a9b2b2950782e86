// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// sourceInterval replaces the minute in source.yaml, because someone is watching.
const sourceInterval = time.Second

// places are the locations that the demo puts into the manifests.
type places struct {
	url, state, cloud string
}

// apply creates the objects of example files in order.
func (d *demo) apply(ctx context.Context, names ...string) error {
	here := places{url: d.repo.URL(), state: d.stateDir(), cloud: d.cloudDir()}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(d.examples, name))
		if err != nil {
			return fmt.Errorf("applying %s: %w", name, err)
		}
		objects, err := decode(d.system.Scheme(), text)
		if err != nil {
			return fmt.Errorf("applying %s: %w", name, err)
		}
		for _, object := range objects {
			if err := here.put(object); err != nil {
				return fmt.Errorf("applying %s: %w", name, err)
			}
			if err := d.system.Create(ctx, object); err != nil {
				return fmt.Errorf("applying %s: %w", name, err)
			}
		}
	}
	return nil
}

// decode parses a file of manifests. An unknown field is an error.
func decode(scheme *runtime.Scheme, text []byte) ([]client.Object, error) {
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var objects []client.Object
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		decoded, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		object, ok := decoded.(client.Object)
		if !ok {
			return nil, fmt.Errorf("%T is not an object to apply", decoded)
		}
		objects = append(objects, object)
	}
}

// put replaces the locations in an object.
func (p places) put(object client.Object) error {
	switch object := object.(type) {
	case *sourcev1.GitRepository:
		object.Spec.URL = p.url
		object.Spec.Interval = metav1.Duration{Duration: sourceInterval}
	case *v1.Stack:
		directory, err := json.Marshal(p.cloud)
		if err != nil {
			return fmt.Errorf("writing the directory of the cloud: %w", err)
		}
		object.Spec.Backend = "file://" + p.state
		object.Spec.Config["lab:directory"] = apiextensionsv1.JSON{Raw: directory}
	}
	return nil
}
