// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
	"go.yaml.in/yaml/v3"
)

// DownloadsVariable names a directory that has what there is at a URL, as <host>/<path>: nothing is downloaded.
const DownloadsVariable = "STAND_IN_DOWNLOADS"

// configFile registers each object of a file. What others need to exist comes first.
func configFile(ctx *pulumi.Context, token, name string, inputs provider.ConstructInputs, options pulumi.ResourceOption) (*provider.ConstructResult, error) {
	var args struct {
		File string `pulumi:"file"`
	}
	if err := inputs.CopyTo(&args); err != nil {
		return nil, fmt.Errorf("reading the inputs of %s: %w", name, err)
	}
	objects, err := objectsIn(args.File)
	if err != nil {
		return nil, err
	}
	var component struct{ pulumi.ResourceState }
	if err := ctx.RegisterComponentResource(token, name, &component, options); err != nil {
		return nil, err
	}
	var needed []pulumi.Resource
	for _, needs := range []bool{false, true} {
		for _, object := range objects {
			if object.needsOthers() != needs {
				continue
			}
			made, err := object.register(ctx, name, pulumi.Parent(&component), pulumi.DependsOn(needed))
			if err != nil {
				return nil, err
			}
			if !needs {
				needed = append(needed, made)
			}
		}
	}
	return &provider.ConstructResult{URN: component.URN()}, nil
}

// manifest is an object as it is in a file.
type manifest map[string]any

func objectsIn(file string) (objects []manifest, err error) {
	text, err := os.ReadFile(pathOf(file))
	if err != nil {
		return nil, fmt.Errorf("reading the objects of %s: %w", file, err)
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object map[string]any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the objects of %s: %w", file, err)
		}
		if len(object) > 0 {
			objects = append(objects, object)
		}
	}
}

func pathOf(file string) string {
	if address, err := url.Parse(file); err == nil && address.Scheme == "https" {
		return filepath.Join(os.Getenv(DownloadsVariable), address.Host, filepath.FromSlash(address.Path))
	}
	return file
}

// needsOthers reports whether it may be refused before the namespaces and the kinds of its file are there.
func (m manifest) needsOthers() bool {
	return m["kind"] != "Namespace" && m["kind"] != "CustomResourceDefinition"
}

func (m manifest) register(ctx *pulumi.Context, component string, options ...pulumi.ResourceOption) (pulumi.Resource, error) {
	version, kind := fmt.Sprint(m["apiVersion"]), fmt.Sprint(m["kind"])
	if !strings.Contains(version, "/") {
		version = "core/" + version
	}
	metadata, _ := m["metadata"].(map[string]any)
	name := fmt.Sprintf("%s:%s", component, metadata["name"])
	if namespace, ok := metadata["namespace"]; ok {
		name = fmt.Sprintf("%s:%s/%s", component, namespace, metadata["name"])
	}
	inputs := pulumi.Map{}
	for key, value := range m {
		inputs[key] = pulumi.Any(value)
	}
	var made pulumi.CustomResourceState
	err := ctx.RegisterResource("kubernetes:"+version+":"+kind, name, inputs, &made, options...)
	return &made, err
}
