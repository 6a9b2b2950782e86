// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package crds pins the APIs whose CRDs are in no Go module, and are generated from their types, so that tests can
// create the objects of such kinds that pages and manifests show.
package crds

import (
	_ "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	_ "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)
