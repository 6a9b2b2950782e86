// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "os/exec"

// detach does nothing here: rundll32 has no console.
func detach(*exec.Cmd) {}
