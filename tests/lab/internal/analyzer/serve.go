// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package analyzer is a policy pack for the things of the lab: each policy is the smallest one of its kind.
package analyzer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Name and version of the pack.
const (
	name    = "lab"
	version = "0.1.0"
)

// Serve serves the pack to the engine until this process ends, and prints its port as a line. It does not start beside a file
// named broken.
func Serve(port io.Writer) error {
	if _, err := os.Stat("broken"); err == nil {
		return errors.New("this pack is broken")
	}
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterAnalyzerServer(server, &pack{})
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("serving the policies: %w", err)
	}
	if _, err := fmt.Fprintln(port, handle.Port); err != nil {
		return fmt.Errorf("printing the port: %w", err)
	}
	return <-handle.Done
}

// pack answers the engine.
type pack struct {
	pulumirpc.UnimplementedAnalyzerServer

	mu     sync.Mutex
	config map[string]*pulumirpc.PolicyConfig
}

// GetPluginInfo returns the version of the pack.
func (p *pack) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version}, nil
}

// Handshake has nothing to agree on.
func (p *pack) Handshake(context.Context, *pulumirpc.AnalyzerHandshakeRequest) (*pulumirpc.AnalyzerHandshakeResponse, error) {
	return &pulumirpc.AnalyzerHandshakeResponse{}, nil
}

// ConfigureStack ignores the stack: the policies are the same for all.
func (p *pack) ConfigureStack(
	context.Context, *pulumirpc.AnalyzerStackConfigureRequest,
) (*pulumirpc.AnalyzerStackConfigureResponse, error) {
	return &pulumirpc.AnalyzerStackConfigureResponse{}, nil
}

// Cancel does nothing: no policy takes long.
func (p *pack) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// GetAnalyzerInfo lists the policies.
func (p *pack) GetAnalyzerInfo(context.Context, *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	info := &pulumirpc.AnalyzerInfo{Name: name, DisplayName: "Lab", Version: version, SupportsConfig: true}
	for _, policy := range policies() {
		info.Policies = append(info.Policies, policy.info())
	}
	return info, nil
}

// Configure sets the levels and the properties of the policies.
func (p *pack) Configure(_ context.Context, req *pulumirpc.ConfigureAnalyzerRequest) (*emptypb.Empty, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.config = req.GetPolicyConfig()
	return &emptypb.Empty{}, nil
}

// configOf returns the level of a policy, and its properties.
func (p *pack) configOf(policy policy) (pulumirpc.EnforcementLevel, map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	set := p.config[policy.name]
	if set == nil {
		return policy.level, nil
	}
	return set.GetEnforcementLevel(), set.GetProperties().AsMap()
}
