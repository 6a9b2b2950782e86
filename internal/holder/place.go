// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// PlaceOf returns where the process that a record names was, as seen from this process.
// Only for one with this host's name do the processes alive here prove anything.
func PlaceOf(host, recorded string, here v1.RunHolder) run.Place {
	then, err := parseInstance(recorded)
	if err != nil || host != here.Host {
		return run.Elsewhere
	}
	now, err := parseInstance(here.Instance)
	switch {
	case err != nil:
		return run.Elsewhere
	case then.boot != now.boot:
		return run.BeforeBoot
	case then.namespace != now.namespace:
		return run.Elsewhere
	}
	return run.Here
}
