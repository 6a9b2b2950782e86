// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package analyzer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
)

// grace is how long a pack or its language host may take to end when it is interrupted.
const grace = 3 * time.Second

// runInHost starts a language host for this pack alone, and has it run the pack. The pack prints
// the port on which it serves Pulumi.
func (l Launch) runInHost(ctx context.Context, args []string, begun *start) (int, error) {
	options, err := structpb.NewStruct(l.Options)
	if err != nil {
		return 1, fmt.Errorf("the options of the runtime in PulumiPolicy.yaml: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	host, port, err := l.startHost(ctx, args)
	if err != nil {
		cancel()
		return 1, err
	}
	defer func() {
		cancel()
		_ = host.Wait() // it was interrupted
	}()
	conn, err := grpc.NewClient(net.JoinHostPort("127.0.0.1", port), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		return 1, fmt.Errorf("connecting to %s: %w", filepath.Base(l.Host), err)
	}
	defer func() { _ = conn.Close() }() // its process ends
	output, err := pulumirpc.NewLanguageRuntimeClient(conn).RunPlugin(ctx, &pulumirpc.RunPluginRequest{
		Pwd: l.Dir, Args: args, Env: l.Env, Kind: "analyzer",
		Info: &pulumirpc.ProgramInfo{RootDirectory: l.Dir, ProgramDirectory: l.Dir, EntryPoint: ".", Options: options},
	})
	if err != nil {
		return 1, fmt.Errorf("running the policy pack in %s: %w", filepath.Base(l.Host), err)
	}
	return relay(output, filepath.Base(l.Host), begun)
}

// startHost starts the language host and returns the port on which it serves.
func (l Launch) startHost(ctx context.Context, args []string) (*exec.Cmd, string, error) {
	name := filepath.Base(l.Host)
	// The address of the engine is the last argument of a plugin.
	host := exec.CommandContext(ctx, l.Host, args...)
	host.Dir, host.Env, host.Stderr = l.Dir, l.Env, ownStderr()
	host.Cancel = func() error { return host.Process.Signal(syscall.SIGINT) }
	host.WaitDelay = grace
	printed, err := host.StdoutPipe()
	if err != nil {
		return nil, "", fmt.Errorf("starting %s: %w", name, err)
	}
	if err := host.Start(); err != nil {
		return nil, "", fmt.Errorf("starting %s: %w", name, err)
	}
	lines := bufio.NewReader(printed)
	line, err := lines.ReadString('\n')
	port := strings.TrimSpace(line)
	if _, notANumber := strconv.ParseUint(port, 10, 16); err != nil || notANumber != nil {
		_ = host.Process.Kill()
		_ = host.Wait() // it was killed
		return nil, "", fmt.Errorf("%s did not start: it printed %q in place of a port", name, port)
	}
	go func() { _, _ = io.Copy(os.Stderr, lines) }() // what it prints is only for people
	return host, port, nil
}

// relay prints what the pack prints until it ends, and returns its exit code.
func relay(output grpc.ServerStreamingClient[pulumirpc.RunPluginResponse], host string, begun *start) (int, error) {
	for {
		message, err := output.Recv()
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 1, fmt.Errorf("running the policy pack in %s: %w", host, err)
		}
		switch printed := message.GetOutput().(type) {
		case *pulumirpc.RunPluginResponse_Stdout:
			_, err = begun.Write(printed.Stdout)
		case *pulumirpc.RunPluginResponse_Stderr:
			_, err = os.Stderr.Write(printed.Stderr)
		case *pulumirpc.RunPluginResponse_Exitcode:
			return int(printed.Exitcode), nil
		}
		if err != nil {
			return 1, fmt.Errorf("printing what the policy pack prints: %w", err)
		}
	}
}
