// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import "golang.org/x/sys/windows"

// errNoData is what Windows says of a pipe that is being closed.
const errNoData = windows.ERROR_NO_DATA
