// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"maps"
	"strings"
)

// Proxies are the variables of the controller's own that a pod is handed: what is of the
// network. A certificate is a file, which no pod has; and a password is not for the tenants
// to read.
func Proxies(env map[string]string) map[string]string {
	var handed map[string]string
	for name, value := range env {
		if strings.HasSuffix(strings.ToUpper(name), "_PROXY") && !strings.Contains(value, "@") {
			if handed == nil {
				handed = map[string]string{}
			}
			handed[name] = value
		}
	}
	return handed
}

// WithProxies are the variables of a pod and the proxies that it was handed, but for those
// that it has in either case.
func WithProxies(own, proxies map[string]string) map[string]string {
	has := map[string]bool{}
	for name := range own {
		has[strings.ToUpper(name)] = true
	}
	all := maps.Clone(own)
	for name, value := range proxies {
		if !has[strings.ToUpper(name)] {
			all[name] = value
		}
	}
	return all
}
