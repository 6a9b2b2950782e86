// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"maps"
	"slices"
)

// maxKeptConfigs bounds the inputs of providers that are kept as they are, in bytes.
const maxKeptConfigs = 16 << 20

// providerConfigs collects the inputs of the resources of providers while a plan is made. Default
// providers have no step in a plan, but theirs decide in which account and region resources are
// made. They are kept as they are until the names in them are known that providers make up. If they
// are too large together, only their hashes are. A nil providerConfigs ignores everything.
type providerConfigs struct {
	read valueReader
	// byURN are the inputs as JSON, or the hashes of them, and kept is their size. rest is the hash
	// of those beyond the bound.
	byURN     map[string]string
	kept      int
	areHashes bool
	rest      string
}

// see notes the last inputs that are reported: those of the old state come before the new ones.
func (c *providerConfigs) see(urn string, at *stepState) {
	if c == nil || at == nil {
		return
	}
	text, err := json.Marshal(at.Inputs)
	if err != nil {
		return // it was decoded from JSON
	}
	inputs := c.form(string(text))
	before, known := c.byURN[urn]
	if !known && len(c.byURN) >= maxKeptGoals {
		c.rest = c.read.sum(c.rest, urn, inputs)
		return
	}
	if c.byURN == nil {
		c.byURN = map[string]string{}
	}
	c.byURN[urn], c.kept = inputs, c.kept+len(inputs)-len(before)
	if c.areHashes || c.kept <= maxKeptConfigs {
		return
	}
	c.areHashes = true
	for urn, inputs := range c.byURN {
		c.byURN[urn] = c.form(inputs)
	}
}

func (c *providerConfigs) form(inputs string) string {
	if c.areHashes {
		return c.read.sum(inputs)
	}
	return inputs
}

// sum is the digest of the inputs of a plan together with those of its providers.
func (c *providerConfigs) sum(names *autonames, inputs string) string {
	texts := []string{inputs}
	for _, urn := range slices.Sorted(maps.Keys(c.byURN)) {
		texts = append(texts, names.sum(urn), names.sum(c.byURN[urn]))
	}
	if c.rest != "" {
		texts = append(texts, c.rest)
	}
	return c.read.sum(texts...)
}
