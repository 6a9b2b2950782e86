// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import "strings"

// checkDefaultProviders refuses a version or plugin URL that differs from that of the default
// provider that the resource or call uses. Pulumi fails on it, and if the provider sets
// none, Pulumi YAML itself exits without a message.
func checkDefaultProviders(top *place, invalid *found) {
	providers := map[string]*place{}
	top.get("resources").entries(func(at *place) {
		token, _ := at.get("type").text()
		if name, ok := strings.CutPrefix(token, providerType); ok && isTrue(at.get("defaultProvider")) {
			providers[name] = at
		}
	})
	if len(providers) == 0 {
		return
	}
	defaultProviderOf := func(token *place, options *place) *place {
		if options.get("provider") != nil {
			return nil
		}
		text, _ := token.text()
		name, _, _ := strings.Cut(text, ":")
		return providers[name]
	}
	top.get("resources").entries(func(at *place) {
		if provider := defaultProviderOf(at.get("type"), at.get("options")); provider != nil {
			checkPluginOfResource(at.get("options"), provider, invalid)
		}
	})
	top.get("variables").entries(func(at *place) {
		if !isCall(at) || !strings.EqualFold(at.node.Content[0].Value, "fn::invoke") {
			return
		}
		call := at.field(0)
		if provider := defaultProviderOf(call.get("function"), call.get("options")); provider != nil {
			checkPluginOfCall(call.get("options"), provider, invalid)
		}
	})
}

func aboutPlugin() []string { return []string{"version", "pluginDownloadURL"} }

func checkPluginOfResource(options, provider *place, invalid *found) {
	for _, key := range aboutPlugin() {
		given, ok := options.get(key).text()
		wanted, has := provider.get("options").get(key).text()
		if ok && (!has || given != wanted) {
			invalid.add(options.get(key), "is not that of the default provider %s, which the resource has: remove it, or give both the same", provider.key)
		}
	}
}

// checkPluginOfCall refuses these options even if they are the same, as Pulumi does.
func checkPluginOfCall(options, provider *place, invalid *found) {
	for _, key := range aboutPlugin() {
		if given := options.get(key); given != nil {
			invalid.add(given, "cannot be given for a function of the default provider %s: remove it", provider.key)
		}
	}
}

func isTrue(at *place) bool { return at != nil && at.kind() == "a boolean" && at.node.Value == "true" }
