// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests builds what `flux pulumi install` applies from the manifests of
// config/: files in, objects out. It must not know of a cluster.
package manifests

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Image is the image of the controller in the manifests, without its tag.
const Image = "ghcr.io/flux-pulumi/pulumi-controller"

// latest is the tag of the image in the manifests.
const latest = "latest"

// Variants are the variants of the image with a language. They have the tag of the image with
// their name as a suffix.
func Variants() []string { return []string{"nodejs", "python", "go", "all"} }

// VariantOf returns the variant that a tag is of, "" for none.
func VariantOf(tag string) string {
	for _, variant := range Variants() {
		if strings.HasSuffix(tag, "-"+variant) {
			return variant
		}
	}
	return ""
}

// Options customises the manifests.
type Options struct {
	// Namespace of the controller.
	Namespace string
	// Image replaces that of the controller, without tag. Empty keeps the one of the
	// manifests.
	Image string
	// Tag of the image. Empty keeps the one of the manifests.
	Tag string
	// Variant of the image, one of Variants. Empty is the image without another language.
	Variant string
	// Jobs makes each run a Kubernetes Job.
	Jobs bool
	// WithoutCRDs leaves out the CRDs.
	WithoutCRDs bool
}

// tag returns the tag of the variant.
func (o Options) tag() string {
	if o.Variant == "" {
		return o.Tag
	}
	return cmp.Or(o.Tag, latest) + "-" + o.Variant
}

// check refuses what cannot be the name of an image.
func (o Options) check() error {
	repository, err := name.NewRepository(cmp.Or(o.Image, Image))
	if err == nil && o.tag() != "" {
		_, err = name.NewTag(repository.Name() + ":" + o.tag())
	}
	if err != nil {
		return fmt.Errorf("invalid name of the controller's image: %w", err)
	}
	return nil
}

// Build returns the YAML of all objects to install.
func Build(files fs.FS, options Options) ([]byte, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	memory := filesys.MakeFsInMemory()
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		return memory.WriteFile(path.Join("/config", file), text)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the manifests: %w", err)
	}
	overlay, err := yaml.Marshal(overlay(options))
	if err != nil {
		return nil, fmt.Errorf("writing the kustomization: %w", err)
	}
	if err := memory.WriteFile("/overlay/kustomization.yaml", overlay); err != nil {
		return nil, fmt.Errorf("writing the kustomization: %w", err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/overlay")
	if err != nil {
		return nil, fmt.Errorf("building the manifests: %w", err)
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("writing the manifests: %w", err)
	}
	return text, nil
}

func overlay(options Options) map[string]any {
	base := "../config/default"
	if options.WithoutCRDs {
		base = "../config/controller"
	}
	kustomization := map[string]any{"resources": []string{base}, "namespace": options.Namespace}
	if options.Jobs {
		kustomization["components"] = []string{"../config/runner-jobs"}
	}
	replaced := map[string]string{"name": Image}
	if options.Image != "" {
		replaced["newName"] = options.Image
	}
	if options.Tag != "" || options.Variant != "" {
		replaced["newTag"] = options.tag()
	}
	if len(replaced) > 1 {
		kustomization["images"] = []any{replaced}
	}
	return kustomization
}

// Objects parses YAML, and keeps its order.
func Objects(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		json, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, fmt.Errorf("reading the manifests: %w", err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(json); err != nil {
			return nil, fmt.Errorf("reading the manifests: %w", err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}
