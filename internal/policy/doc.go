// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy has the rules of PolicySets: which select a Stack, the config of their packs,
// and the digest of packs. Values in, values out: it reads no object, and knows no Pulumi.
package policy
