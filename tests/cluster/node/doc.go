// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package node is the inside of the real node that tests can have: the programs of Kubernetes and containerd in namespaces of
// their own (processes, mounts, network), so that the end of its first process is the end of all of it, and nothing of it can
// stay. The machine's side of it is in package cluster, and nothing else may import this one.
package node
