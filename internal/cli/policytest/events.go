// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policytest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxListed bounds the violations that are listed.
const maxListed = 1000

// Findings are what the policies have found.
type Findings struct {
	// Listed are the violations, those of mandatory policies first: at most 1000. They name no PolicySet and no pack.
	Listed []v1.PolicyViolation
	// Mandatory and Advisory count all.
	Mandatory, Advisory int
	// loaded is set if Pulumi says that it has loaded the pack.
	loaded bool
}

// event is the part of an event of Pulumi that is read here.
type event struct {
	Policy *struct {
		URN     string `json:"resourceUrn"`
		Message string `json:"message"`
		Policy  string `json:"policyName"`
		Level   string `json:"enforcementLevel"`
	} `json:"policyEvent"`
	Summary *struct {
		Packs map[string]string `json:"PolicyPacks"`
	} `json:"summaryEvent"`
}

// readEvents reads what the preview has found.
func (w workspace) readEvents() (Findings, error) {
	var found Findings
	log, err := os.Open(w.path("events"))
	if errors.Is(err, fs.ErrNotExist) { // it has failed before
		return found, nil
	}
	if err != nil {
		return found, err
	}
	defer func() { _ = log.Close() }() // only read
	seen := map[v1.PolicyViolation]bool{}
	for decoder := json.NewDecoder(log); ; {
		var read event
		err := decoder.Decode(&read)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return found, fmt.Errorf("reading the events of Pulumi: %w", err)
		}
		if read.Summary != nil {
			found.loaded = len(read.Summary.Packs) > 0
		}
		if read.Policy == nil {
			continue
		}
		violation := v1.PolicyViolation{
			Policy: read.Policy.Policy, Level: string(run.Advisory), Resource: resourceOf(read.Policy.URN), Message: strings.TrimSpace(read.Policy.Message),
		}
		if read.Policy.Level == string(run.Mandatory) {
			violation.Level = string(run.Mandatory)
		}
		if !seen[violation] { // Pulumi may report one more than once
			seen[violation] = true
			found.add(violation)
		}
	}
	slices.SortStableFunc(found.Listed, func(a, b v1.PolicyViolation) int {
		return cmp.Or(-cmp.Compare(a.Level, b.Level), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Message, b.Message))
	})
	return found, nil
}

func (f *Findings) add(violation v1.PolicyViolation) {
	switch {
	case violation.Level == string(run.Mandatory):
		f.Mandatory++
	case policy.IsUnknownInPreview(violation.Message):
		return
	default:
		f.Advisory++
	}
	if len(f.Listed) < maxListed {
		f.Listed = append(f.Listed, violation)
	}
}

// resourceOf returns the URN of a resource, "" for the stack as a whole.
func resourceOf(urn string) string {
	if strings.Contains(urn, "::pulumi:pulumi:Stack::") {
		return ""
	}
	return urn
}
