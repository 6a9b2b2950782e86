// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// plugins are what the engine has reported of the providers.
type plugins struct {
	// byName are the versions of each.
	byName map[string]map[string]bool
	// unnamed are the names of those whose version the program does not name.
	unnamed map[string]bool
	// configs, if set, collects their inputs.
	configs *providerConfigs
}

// see notes the version of a provider, if the resource names one. Default providers do.
func (p *plugins) see(event *stepEvent) {
	name, isProvider := strings.CutPrefix(event.Metadata.Type, providerType)
	if !isProvider {
		return
	}
	for _, at := range []*stepState{event.Metadata.Old, event.Metadata.New} {
		p.configs.see(event.Metadata.URN, at)
		var version string
		if at != nil && at.Inputs["version"] == nil && (at == event.Metadata.New || event.Metadata.New == nil) {
			note(&p.unnamed, name)
		}
		if at == nil || json.Unmarshal(at.Inputs["version"], &version) != nil || version == "" {
			continue
		}
		p.seeVersion(name, version)
	}
}

func (p *plugins) seeVersion(name, version string) {
	if p.byName == nil {
		p.byName = map[string]map[string]bool{}
	}
	set := p.byName[name]
	note(&set, version)
	p.byName[name] = set
}

// versions returns the versions of each, in order.
func (p plugins) versions() map[string]string {
	all := make(map[string]string, len(p.byName))
	for name, versions := range p.byName {
		all[name] = strings.Join(slices.Sorted(maps.Keys(versions)), ", ")
	}
	return all
}

// seeInstalled notes which installed version Pulumi takes of each provider whose version the program
// does not name.
func (p *plugins) seeInstalled(dir string) error {
	if len(p.unnamed) == 0 {
		return nil
	}
	installed, err := workspace.GetPluginsFromDir(dir)
	if err != nil {
		return fmt.Errorf("looking for the versions of plugins: %w", err)
	}
	for name := range p.unnamed {
		wanted := workspace.PluginDescriptor{Kind: apitype.ResourcePlugin, Name: name}
		if taken := workspace.LegacySelectCompatiblePlugin(installed, wanted); taken != nil {
			p.seeVersion(name, taken.Version.String())
		}
	}
	return nil
}
