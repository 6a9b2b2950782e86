// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"os/exec"
	"syscall"
)

// Shell has bash run what a person types, and returns all that is printed. Each command that fails ends it with an error.
// The end of ctx kills it with the commands that it waits for.
func Shell(ctx context.Context, dir string, env []string, typed string) (output string, err error) {
	command := exec.CommandContext(ctx, "bash", "-e", "-u", "-o", "pipefail", "-c", typed)
	command.Dir, command.Env = dir, env
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	printed, err := command.CombinedOutput()
	return string(printed), err
}
