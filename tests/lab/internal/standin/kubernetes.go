// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/property"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/kube"
)

// kubernetes has a few kinds, as objects of the API server of KUBECONFIG. It does not
// wait until they are ready.
func kubernetes() Package {
	const meta = "kubernetes:meta/v1:ObjectMeta"
	texts := mapOf(text)
	object := func(path string, inputs map[string]Property) Resource {
		inputs["apiVersion"], inputs["kind"], inputs["metadata"] = optional(text), optional(text), optional(objectOf(meta))
		return Resource{Path: path, Inputs: inputs, Outputs: map[string]Output{
			"metadata": {Property: optional(objectOf(meta)), Merges: true, Of: metadata},
		}}
	}
	return Package{
		Name: "kubernetes", Version: "4.18.0",
		Config: map[string]Property{"namespace": optional(text)},
		Types: map[string]map[string]Property{meta: {
			"name": optional(text), "namespace": optional(text), "labels": optional(texts), "annotations": optional(texts),
		}},
		Resources: map[string]Resource{
			"kubernetes:core/v1:Secret": object("/api/v1/secrets", map[string]Property{
				"type": replacing(text), "data": {Type: texts, Secret: true}, "stringData": {Type: texts, Secret: true}}),
			"kubernetes:core/v1:ConfigMap":  object("/api/v1/configmaps", map[string]Property{"data": optional(texts)}),
			"kubernetes:core/v1:Service":    object("/api/v1/services", map[string]Property{"spec": optional(anyJSON)}),
			"kubernetes:apps/v1:Deployment": object("/apis/apps/v1/deployments", map[string]Property{"spec": optional(anyJSON)}),
		},
		Open: func(property.Map) (Place, error) { return cluster{}, nil },
	}
}

// cluster is a Place in a cluster. The ID of an object is <namespace>/<name>.
type cluster struct{}

func (cluster) Create(ctx context.Context, thing Thing) (string, error) {
	api, err := open()
	if err != nil {
		return "", err
	}
	given := field(thing, "metadata")
	name, namespace := stringOf(given, "name"), stringOf(given, "namespace")
	if name == "" {
		if name, err = cloud.NewID(thing.idOf()); err != nil {
			return "", err
		}
	}
	if namespace == "" {
		namespace = api.Namespace
	}
	thing.ID = namespace + "/" + name
	return thing.ID, apply(ctx, api, thing)
}

func (cluster) Read(ctx context.Context, thing Thing) (property.Map, bool, error) {
	api, err := open()
	if err != nil {
		return property.Map{}, false, err
	}
	found, err := api.Exists(ctx, address(thing))
	return thing.Inputs, found, err
}

func (cluster) Update(ctx context.Context, thing Thing) error {
	api, err := open()
	if err != nil {
		return err
	}
	return apply(ctx, api, thing)
}

func (cluster) Delete(ctx context.Context, thing Thing) error {
	api, err := open()
	if err != nil {
		return err
	}
	return api.Delete(ctx, address(thing))
}

func open() (*kube.Cluster, error) {
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		return nil, errors.New("there is no cluster: KUBECONFIG is not set")
	}
	return kube.Open(path)
}

// apply applies the object of the inputs.
func apply(ctx context.Context, api *kube.Cluster, thing Thing) error {
	object, ok := plain(property.New(thing.Inputs)).(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no object", thing.URN)
	}
	parts := strings.Split(strings.TrimPrefix(thing.Token, "kubernetes:"), ":")
	object["apiVersion"], object["kind"] = strings.TrimPrefix(parts[0], "core/"), parts[1]
	object["metadata"] = plain(metadata(thing))
	return api.Apply(ctx, address(thing), object)
}

// address returns the path of the object in the API.
func address(thing Thing) string {
	namespace, name, _ := strings.Cut(thing.ID, "/")
	slash := strings.LastIndex(thing.Resource.Path, "/")
	return thing.Resource.Path[:slash] + "/namespaces/" + namespace + thing.Resource.Path[slash:] + "/" + name
}

// metadata is that of the program, with the name and the namespace of the object.
func metadata(thing Thing) property.Value {
	namespace, name, _ := strings.Cut(thing.ID, "/")
	return property.New(field(thing, "metadata").Set("name", property.New(name)).Set("namespace", property.New(namespace)))
}

func field(thing Thing, name string) property.Map {
	if value := thing.Inputs.Get(name); value.IsMap() {
		return value.AsMap()
	}
	return property.Map{}
}

func stringOf(from property.Map, name string) string {
	if value := from.Get(name); value.IsString() {
		return value.AsString()
	}
	return ""
}
