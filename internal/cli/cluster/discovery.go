// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Version returns the version of the API server.
func Version(ctx context.Context, flags genericclioptions.RESTClientGetter) (*version.Info, error) {
	config, err := Config(flags)
	if err != nil {
		return nil, err
	}
	api, err := discovery.NewDiscoveryClientForConfig(endingWith(ctx, config))
	if err != nil {
		return nil, fmt.Errorf("making a client of the cluster: %w", err)
	}
	return api.ServerVersion()
}

// newMapper returns a mapper that discovers the kinds of the API server on first use.
func newMapper(ctx context.Context, config *rest.Config) (meta.RESTMapper, error) {
	config = endingWith(ctx, config)
	direct, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the cluster: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, direct)
	if err != nil {
		return nil, fmt.Errorf("making a client of the cluster: %w", err)
	}
	return mapper, nil
}

// endingWith returns a config whose requests end with ctx. client-go does not pass a
// context to discovery requests, so that neither a timeout nor Ctrl-C would end them. Use
// it for these alone: all others have a context, and the cleanup of a command comes after
// ctx.
func endingWith(ctx context.Context, config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &endingTransport{ctx, next} })
	return config
}

type endingTransport struct {
	ctx  context.Context
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *endingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	// AfterFunc runs in a goroutine, which a fast request would outrun.
	if t.ctx.Err() != nil {
		return nil, context.Cause(t.ctx)
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	release := func() {
		stop()
		cancel(nil)
	}
	response, err := t.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	response.Body = &endingBody{response.Body, release}
	return response, nil
}

// endingBody can be read until the request ends.
type endingBody struct {
	io.ReadCloser
	release func()
}

// Close implements io.Closer.
func (b *endingBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
