// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package monitoring checks config/monitoring and its page against the metrics that
// exist: a dashboard of a metric that nobody serves is empty, and nothing else would
// notice. It has only tests.
package monitoring
