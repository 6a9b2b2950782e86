// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import "strings"

// checkDefaultProviders refuses a version or plugin URL of a resource whose default
// provider has none: Pulumi YAML exits on it without a message.
func checkDefaultProviders(top *position, invalid *findings) {
	providers := map[string]*position{}
	top.get("resources").entries(func(at *position) {
		if name, ok := strings.CutPrefix(typeOf(at), providerType); ok && isTrue(at.get("defaultProvider")) {
			providers[name] = at
		}
	})
	top.get("resources").entries(func(at *position) {
		name, _, _ := strings.Cut(typeOf(at), ":")
		options := at.get("options")
		provider := providers[name]
		if provider == nil || options.get("provider") != nil {
			return
		}
		for _, key := range []string{"version", "pluginDownloadURL"} {
			if given := options.get(key); given != nil && provider.get("options").get(key) == nil {
				invalid.add(given, "is not that of the default provider %s, which the resource has: remove it, or give both the same", provider.key)
			}
		}
	})
}

func isTrue(at *position) bool {
	return at != nil && at.kind() == "a boolean" && at.node.Value == "true"
}
