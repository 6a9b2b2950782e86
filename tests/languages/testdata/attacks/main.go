// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command app tries to leave the sandbox of its run.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// seize is PTRACE_SEIZE, which does not stop the process.
const seize = 0x4206

func tried(name string, attempts ...func() error) error {
	result := "done"
	for _, attempt := range attempts {
		if err := attempt(); err != nil {
			result = "failed: " + err.Error()
			break
		}
	}
	return add(os.Getenv("RESULTS")+"/results", name+": "+result+"\n")
}

func read(path string) func() error {
	return func() error { _, err := os.ReadFile(path); return err }
}

func write(path string) func() error {
	return func() error { return os.WriteFile(path, nil, 0o600) }
}

func move(from, to string) func() error {
	return func() error { return os.Rename(from, to) }
}

func add(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func attack() error {
	token, pid, victim := os.Getenv("TOKEN"), os.Getenv("PID"), os.Getenv("VICTIM")
	return errors.Join(
		tried("own file", write("own")),
		tried("own move", func() error { return os.Mkdir("sub", 0o700) }, move("own", "sub/own")),
		tried("token", read(token)),
		tried("environment", read("/proc/"+pid+"/environ")),
		tried("root", read("/proc/"+pid+"/root"+token)),
		tried("attach", func() error {
			number, err := strconv.Atoi(pid)
			if err != nil {
				return err
			}
			if _, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, seize, uintptr(number), 0, 0, 0, 0); errno != 0 {
				return errno
			}
			return nil
		}),
		tried("read a run", read(victim+"/secret")),
		tried("list a run", func() error { _, err := os.ReadDir(victim); return err }),
		tried("symbolic link", func() error { return os.Symlink(victim+"/secret", "link") }, read("link")),
		tried("hard link", func() error { return os.Link(victim+"/secret", "hard") }, read("hard")),
		tried("write a run", func() error { return add(victim+"/secret", "!") }),
		tried("create in a run", write(victim+"/created")),
		tried("move in", move("sub/own", victim+"/moved")),
		tried("move out", move(victim+"/secret", "taken")),
		tried("data", write(os.Getenv("DATA"))),
		tried("background", func() error {
			late := exec.Command("/bin/sh", "-c", os.Getenv("LATE"), "late", os.Getenv("RESULTS"), token)
			late.Env, late.SysProcAttr = []string{}, &syscall.SysProcAttr{Setsid: true}
			return late.Start()
		}),
	)
}

func main() {
	pulumi.Run(func(*pulumi.Context) error {
		if err := attack(); err != nil {
			return fmt.Errorf("writing down what was tried: %w", err)
		}
		return nil
	})
}
