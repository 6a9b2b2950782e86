// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package monitoring checks what is in config/monitoring and on the page about it
// against the metrics that there are: a dashboard with a metric that nobody has
// shows nothing, and nothing else would tell. It holds tests only.
package monitoring
