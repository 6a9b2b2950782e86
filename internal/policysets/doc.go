// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package policysets reconciles PolicySets: it reports in the status of each whether its packs
// can be used, and which Stacks violate them.
//
// It runs nothing, and nothing waits for it: a Stack resolves the packs that guard it itself, so
// that nothing of what guards a Stack belongs here. It watches nothing but PolicySets as long as
// there are none.
package policysets
