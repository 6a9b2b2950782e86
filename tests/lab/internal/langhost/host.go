// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package langhost is what the hosts of languages have in common: they serve the engine, and run the tools of their
// language.
package langhost

import (
	"context"
	"fmt"
	"io"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Serve serves a language to the engine until this process ends, and prints its port as a line.
func Serve(host pulumirpc.LanguageRuntimeServer, port io.Writer) error {
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, host)
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("serving the language: %w", err)
	}
	if _, err := fmt.Fprintln(port, handle.Port); err != nil {
		return fmt.Errorf("printing the port: %w", err)
	}
	return <-handle.Done
}

// Host is the part of a host that is the same for each language.
type Host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	// Engine is the address of the engine.
	Engine string

	cancelled context.Context
	cancel    context.CancelFunc
}

// New returns a host for the engine at the address.
func New(engine string) Host {
	ctx, cancel := context.WithCancel(context.Background())
	return Host{Engine: engine, cancelled: ctx, cancel: cancel}
}

// GetPluginInfo returns the version under which the host is installed.
func (h *Host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "0.1.0"}, nil
}

// Cancel ends the programs that run.
func (h *Host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	h.cancel()
	return &emptypb.Empty{}, nil
}

// untilCancelled ends with the call, or if the engine cancels.
func (h *Host) untilCancelled(call context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(call)
	stop := context.AfterFunc(h.cancelled, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
