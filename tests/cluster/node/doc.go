// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package node is the inside of the real node for tests: Kubernetes and containerd in
// PID, mount and network namespaces. The end of its first process ends everything, and
// nothing can be left behind. The machine's side is package cluster, the only one that
// may import this one.
package node
