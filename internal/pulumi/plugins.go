// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// plugins are the versions of the providers that the engine has reported, by name.
type plugins map[string]map[string]bool

// see notes the version of a provider, if the resource names one. Default providers do.
func (p *plugins) see(event *stepEvent) {
	name, isProvider := strings.CutPrefix(event.Metadata.Type, providerType)
	if !isProvider {
		return
	}
	for _, at := range []*stepState{event.Metadata.Old, event.Metadata.New} {
		var version string
		if at == nil || json.Unmarshal(at.Inputs["version"], &version) != nil || version == "" {
			continue
		}
		if *p == nil {
			*p = plugins{}
		}
		set := (*p)[name]
		note(&set, version)
		(*p)[name] = set
	}
}

// versions returns the versions of each, in order.
func (p plugins) versions() map[string]string {
	all := make(map[string]string, len(p))
	for name, versions := range p {
		all[name] = strings.Join(slices.Sorted(maps.Keys(versions)), ", ")
	}
	return all
}
