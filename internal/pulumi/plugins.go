// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// plugins are what the engine has reported of the providers.
type plugins struct {
	// byName are the versions of each.
	byName map[string]map[string]bool
	// configs are the inputs of each resource of a provider, as JSON. Default providers have no
	// step in a plan, but theirs decide in which account and region resources are made.
	configs map[string]string
}

// see notes the version of a provider, if the resource names one. Default providers do.
func (p *plugins) see(event *stepEvent) {
	name, isProvider := strings.CutPrefix(event.Metadata.Type, providerType)
	if !isProvider {
		return
	}
	for _, at := range []*stepState{event.Metadata.Old, event.Metadata.New} {
		p.seeConfig(event.Metadata.URN, at)
		var version string
		if at == nil || json.Unmarshal(at.Inputs["version"], &version) != nil || version == "" {
			continue
		}
		if p.byName == nil {
			p.byName = map[string]map[string]bool{}
		}
		set := p.byName[name]
		note(&set, version)
		p.byName[name] = set
	}
}

// seeConfig notes the last inputs that are reported: those of the old state come before the new ones.
func (p *plugins) seeConfig(urn string, at *stepState) {
	if at == nil {
		return
	}
	text, err := json.Marshal(at.Inputs)
	if err != nil {
		return // it was decoded from JSON
	}
	if p.configs == nil {
		p.configs = map[string]string{}
	}
	p.configs[urn] = string(text)
}

// versions returns the versions of each, in order.
func (p plugins) versions() map[string]string {
	all := make(map[string]string, len(p.byName))
	for name, versions := range p.byName {
		all[name] = strings.Join(slices.Sorted(maps.Keys(versions)), ", ")
	}
	return all
}

// inputs is the digest of the inputs of a plan together with those of its providers.
func (p plugins) inputs(read valueReader, names *autonames, inputs string) string {
	texts := []string{inputs}
	for _, urn := range slices.Sorted(maps.Keys(p.configs)) {
		texts = append(texts, names.sum(urn), names.sum(p.configs[urn]))
	}
	return read.sum(texts...)
}
