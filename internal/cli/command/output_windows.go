// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import "golang.org/x/sys/windows"

// errNoData is the error of Windows for a pipe that is being closed.
const errNoData = windows.ERROR_NO_DATA
