// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blang/semver"
)

// plugins are what the engine has reported of the providers.
type plugins struct {
	// byName are the versions of each.
	byName map[string]map[string]bool
	// unnamed are the names of those whose version the program does not name.
	unnamed map[string]bool
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

// seeInstalled notes the newest installed version of each provider whose version the program does
// not name: Pulumi takes that one.
func (p *plugins) seeInstalled(dir string) error {
	if len(p.unnamed) == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking for the versions of plugins: %w", err)
	}
	for name := range p.unnamed {
		var newest *semver.Version
		for _, entry := range entries {
			text, ok := strings.CutPrefix(entry.Name(), "resource-"+name+"-v")
			info, err := os.Stat(filepath.Join(dir, entry.Name()))
			if !ok || err != nil || !info.IsDir() {
				continue // the lock of one, or one that is removed
			}
			if version, err := semver.Parse(text); err == nil && (newest == nil || version.GT(*newest)) {
				newest = &version
			}
		}
		if newest != nil {
			p.seeVersion(name, newest.String())
		}
	}
	return nil
}

// inputs is the digest of the inputs of a plan together with those of its providers.
func (p plugins) inputs(read valueReader, names *autonames, inputs string) string {
	texts := []string{inputs}
	for _, urn := range slices.Sorted(maps.Keys(p.configs)) {
		texts = append(texts, names.sum(urn), names.sum(p.configs[urn]))
	}
	return read.sum(texts...)
}
