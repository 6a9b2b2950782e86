// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package langhost

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// Plugin runs a program that serves the engine, with the environment of the request. What it prints goes to the caller.
func (h *Host) Plugin(
	req *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer, env []string, name string, args ...string,
) error {
	closer, stdout, stderr, err := rpcutil.MakeRunPluginStreams(server, false)
	if err != nil {
		return err
	}
	ctx, cancel := h.untilCancelled(server.Context())
	defer cancel()
	cmd := command(ctx, req.Info.GetProgramDirectory(), name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(req.GetEnv(), env...), stdout, stderr
	err = cmd.Run()
	if fault := closer.Close(); fault != nil {
		return fault
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return server.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(exit.ExitCode())}})
	case errors.Is(err, context.Canceled):
		return nil
	}
	return fmt.Errorf("starting the plugin: %w", err)
}
