// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// config is how the container starts. A test compares it with the Dockerfile.
func config() v1.Config {
	return v1.Config{
		// The same as Flux's controllers, so that one policy fits all.
		User:       "65534:65534",
		Entrypoint: []string{"/usr/bin/tini", "--", "/usr/local/bin/pulumi-controller"},
		Env:        []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "pulumi-controller",
			"org.opencontainers.image.description": "The Flux controller for Pulumi",
			"org.opencontainers.image.licenses":    "Apache-2.0",
		},
	}
}

// newImage makes an image of the layers.
func newImage(o options, layers []layer) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, l := range layers {
		packed, err := l.pack(o.created)
		if err != nil {
			return nil, err
		}
		image, err = mutate.Append(image, mutate.Addendum{Layer: packed, History: v1.History{
			Created: v1.Time{Time: o.created}, CreatedBy: l.name,
		}})
		if err != nil {
			return nil, fmt.Errorf("adding layer %s: %w", l.name, err)
		}
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", o.arch
	if o.arch == "arm64" {
		file.Variant = "v8"
	}
	file.Created = v1.Time{Time: o.created}
	file.Config = config()
	if o.program != "" {
		file.Config.Entrypoint = []string{"/" + plainPath(o.program)}
		file.Config.Labels = map[string]string{"org.opencontainers.image.title": filepath.Base(o.program)}
	}
	if o.entrypoint != "" {
		file.Config.Entrypoint = strings.Fields(o.entrypoint)
	}
	if o.revision != "" {
		file.Config.Labels["org.opencontainers.image.revision"] = o.revision
	}
	return mutate.ConfigFile(image, file)
}
