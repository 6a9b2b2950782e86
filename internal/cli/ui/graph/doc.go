// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package graph lays out what depends on what for the page of `flux pulumi ui`, from left to right: the nodes are in layers,
// those of a layer are in an order with few crossings, and a long edge has points in each layer that it passes, so that it is
// never behind a node (Layout). It also makes the graphs of Stacks and of resources. The same input, in any order, has the
// same layout. It must not read anything, nor know how a node is drawn.
package graph
