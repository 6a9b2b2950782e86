// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package bootstrap follows the guide docs/guides/flux-bootstrap.md as its reader would, with the YAML that the guide has and
// the real controllers of Flux, on an API server that knows no Stacks until Flux has installed them. It also takes an operator
// that Flux has installed out of git, as docs/migration/steps.md says. Besides tests it holds the guide, as others follow it too.
//
// The cluster has no node and no controller manager. Two of its parts are played by the test: what the Deployment
// controller and a kubelet do to the Deployment of pulumi-controller (see node_test.go), and the update of
// kustomize-controller, which has the flags of its Deployment from the start.
package bootstrap
