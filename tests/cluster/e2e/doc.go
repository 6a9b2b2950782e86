// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e runs Flux and the controller as Deployments from their own manifests, on the node of tests/cluster or on a cluster
// that is there, and looks at what only a node can show: pods that are started, probed, stopped and killed by a kubelet. It holds
// tests only, which are skipped unless `make e2e` asks for them.
package e2e
