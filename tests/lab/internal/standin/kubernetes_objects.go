// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/property"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/kube"
)

// cluster is a Place in a cluster. The ID of an object is <namespace>/<name>, or its name if it is in no namespace.
type cluster struct {
	// path of the kubeconfig that the provider was given.
	path string
}

// openCluster returns the cluster of the provider's config, which may name a file.
func openCluster(config property.Map) (Place, error) {
	if value := config.Get("kubeconfig"); value.IsString() && filepath.IsAbs(value.AsString()) {
		return cluster{path: value.AsString()}, nil
	}
	return cluster{}, nil
}

func (c cluster) Create(ctx context.Context, thing Thing) (string, error) {
	api, kind, err := c.reach(ctx, thing)
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
	if thing.ID = name; kind.Namespaced {
		thing.ID = namespace + "/" + name
	}
	return thing.ID, apply(ctx, api, kind, thing)
}

func (c cluster) Read(ctx context.Context, thing Thing) (property.Map, bool, error) {
	api, kind, err := c.reach(ctx, thing)
	if err != nil {
		return property.Map{}, false, err
	}
	found, err := api.Exists(ctx, address(kind, thing))
	return thing.Inputs, found, err
}

func (c cluster) Update(ctx context.Context, thing Thing) error {
	api, kind, err := c.reach(ctx, thing)
	if err != nil {
		return err
	}
	return apply(ctx, api, kind, thing)
}

func (c cluster) Delete(ctx context.Context, thing Thing) error {
	api, kind, err := c.reach(ctx, thing)
	if err != nil {
		return err
	}
	return api.Delete(ctx, address(kind, thing))
}

// reach returns the API server, and where it has objects of the thing's kind.
func (c cluster) reach(ctx context.Context, thing Thing) (*kube.Cluster, kube.Kind, error) {
	path, found := kube.Config()
	if c.path != "" {
		path = c.path
	} else if !found {
		return nil, kube.Kind{}, errors.New("there is no cluster: there is no kubeconfig")
	}
	api, err := kube.Open(path)
	if err != nil {
		return nil, kube.Kind{}, err
	}
	version, kind := groupVersionKind(thing)
	served, err := api.Kind(ctx, version, kind)
	return api, served, err
}

// apply applies the object of the inputs.
func apply(ctx context.Context, api *kube.Cluster, kind kube.Kind, thing Thing) error {
	object, ok := plain(property.New(thing.Inputs)).(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no object", thing.URN)
	}
	object["apiVersion"], object["kind"] = groupVersionKind(thing)
	object["metadata"] = plain(metadata(thing))
	return api.Apply(ctx, address(kind, thing), object)
}

// groupVersionKind returns the two of the token: "v1" and "Secret" of kubernetes:core/v1:Secret.
func groupVersionKind(thing Thing) (groupVersion, kind string) {
	groupVersion, kind, _ = strings.Cut(strings.TrimPrefix(thing.Token, "kubernetes:"), ":")
	return strings.TrimPrefix(groupVersion, "core/"), kind
}

// address returns the path of the object in the API.
func address(kind kube.Kind, thing Thing) string {
	namespace, name := place(thing.ID)
	return kind.Path(namespace) + "/" + name
}

func place(id string) (namespace, name string) {
	if namespace, name, found := strings.Cut(id, "/"); found {
		return namespace, name
	}
	return "", id
}

// metadata is that of the program, with the name and the namespace of the object.
func metadata(thing Thing) property.Value {
	namespace, name := place(thing.ID)
	given := field(thing, "metadata").Set("name", property.New(name))
	if namespace != "" {
		given = given.Set("namespace", property.New(namespace))
	}
	return property.New(given)
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
