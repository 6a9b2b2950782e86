// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster connects the command line to a cluster: the client, the kinds it knows,
// and their names for completion. It must not print anything.
package cluster

import (
	"context"
	"errors"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Scheme has the kinds that are read into Go types. All others are read as unstructured.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, sourcev1.AddToScheme, v1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return scheme, nil
}

// Config returns the client configuration for the cluster of the flags.
func Config(flags genericclioptions.RESTClientGetter) (*rest.Config, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("loading the kubeconfig: %w", err)
	}
	config.QPS = -1 // no client-side limit: a person waits
	return config, nil
}

// Connect returns a client for the cluster of the flags. It sends no request yet, so a
// missing cluster shows with the first one. Discovery requests end with ctx.
func Connect(ctx context.Context, flags genericclioptions.RESTClientGetter) (client.WithWatch, error) {
	config, err := Config(flags)
	if err != nil {
		return nil, err
	}
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	mapper, err := newMapper(ctx, config)
	if err != nil {
		return nil, err
	}
	api, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("making a client of the cluster: %w", err)
	}
	return api, nil
}

// Explain says what to do if the API server does not know the kinds of this project. It
// returns any other error unchanged.
func Explain(err error) error {
	var unknown *meta.NoKindMatchError
	var unserved *apiutil.ErrResourceDiscoveryFailed
	isUnknown := errors.As(err, &unknown) && unknown.GroupKind.Group == v1.GroupVersion.Group
	if errors.As(err, &unserved) {
		ours := meta.IsNoMatchError((*unserved)[v1.GroupVersion])
		isUnknown = isUnknown || ours
	}
	if isUnknown {
		return fmt.Errorf("pulumi-controller is not installed in this cluster, which has no kinds of %s: run `flux pulumi install`", v1.GroupVersion)
	}
	return err
}
