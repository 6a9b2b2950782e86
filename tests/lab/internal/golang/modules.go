// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package golang

// What the programs of the tests import, and the host does not: they are built from the modules of this go.mod, and find
// them downloaded and compiled where the host is.
import (
	_ "github.com/pulumi/pulumi-random/sdk/v4/go/random"
	_ "github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)
