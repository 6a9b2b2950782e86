// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"maps"
	"strings"
)

// Proxies returns the variables of the controller's environment that a pod gets: the
// proxies. A certificate is a file, which no pod has, and tenants must not read a proxy's
// password.
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

// WithProxies adds the proxies from the controller to the variables of a pod. Its own, in
// upper or lower case, take precedence.
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
