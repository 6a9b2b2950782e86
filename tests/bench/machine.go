// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine is what the numbers depend on. It has no name: numbers are compared
// between machines of a kind.
type machine struct {
	cpus   int
	model  string
	memory int64
	system string
	golang string
	pulumi string
	// load is the load average of the last minute.
	load string
}

func describeMachine(ctx context.Context, cli string) (machine, error) {
	m := machine{cpus: runtime.NumCPU(), golang: runtime.Version()}
	texts := map[string]string{}
	for _, path := range []string{"/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/sys/kernel/osrelease"} {
		text, err := os.ReadFile(path)
		if err != nil {
			return m, fmt.Errorf("describing the machine: %w", err)
		}
		texts[path] = string(text)
	}
	m.model = parseModel(texts["/proc/cpuinfo"])
	m.load, _, _ = strings.Cut(texts["/proc/loadavg"], " ")
	release, _, _ := strings.Cut(strings.TrimSpace(texts["/proc/sys/kernel/osrelease"]), "-")
	m.system = "Linux " + release
	var err error
	if m.memory, err = parseKilobytes(texts["/proc/meminfo"], "MemTotal"); err != nil {
		return m, fmt.Errorf("describing the machine: %w", err)
	}
	version := exec.CommandContext(ctx, cli, "version")
	version.Env = []string{"PULUMI_SKIP_UPDATE_CHECK=true", "HOME=" + os.TempDir()}
	answer, err := version.Output()
	if err != nil {
		return m, fmt.Errorf("asking for Pulumi's version: %w", err)
	}
	m.pulumi = string(bytes.TrimSpace(answer))
	return m, nil
}

func (m machine) String() string {
	return fmt.Sprintf("%d CPUs (%s), %.1f GiB of memory, %s, %s, Pulumi %s",
		m.cpus, m.model, float64(m.memory)/(1<<30), m.system, m.golang, m.pulumi)
}
