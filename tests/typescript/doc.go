// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package typescript tests the programs in TypeScript that are in examples/, and what the SDK makes of the environment of a run:
// the real compiler, the real packages and the real Pulumi, on a real API server. There is no pulumi-language-nodejs here, so
// run.js serves the program to Pulumi itself. Stacks in YAML do not belong here.
package typescript
