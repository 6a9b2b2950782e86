// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e runs Flux and the controller as Deployments from their own manifests, on the node of tests/cluster or
// on an existing cluster, and checks what only a node can show: pods that a kubelet starts, probes, stops and kills.
// It has only tests, which are skipped unless `make e2e` asks for them.
package e2e
