// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConnectToRead is like Connect, for a client that can write nothing: it sends no request that
// could, whatever its user may do.
func ConnectToRead(ctx context.Context, flags genericclioptions.RESTClientGetter) (client.Reader, error) {
	config, err := Config(flags)
	if err != nil {
		return nil, err
	}
	return connectToRead(ctx, config)
}

func connectToRead(ctx context.Context, config *rest.Config) (client.Reader, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next} })
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	mapper, err := newMapper(ctx, config)
	if err != nil {
		return nil, err
	}
	api, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("making a client of the cluster: %w", err)
	}
	return api, nil
}

// readOnly sends requests that read, and refuses all others.
type readOnly struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (r readOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		return nil, fmt.Errorf("this command changes nothing, and does not send %s %s", request.Method, request.URL.Path)
	}
	return r.next.RoundTrip(request)
}
