// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxState bounds the state that a recovery reads, in bytes.
const maxState = 512 << 20

// maxTargets bounds the targets passed to a refresh: Linux bounds the arguments of a
// process.
const maxTargets = 1000

// state is what a recovery needs to know about a stack's state.
type state struct {
	// creates are the URNs of the creations in flight.
	creates []string
	// others are the resources of the other operations in flight.
	others []string
	// resources has the URNs of the resources in the state.
	resources map[string]bool
	// root is the URN of the stack's own resource, "" if it has none.
	root string
	// managed are the resources to report.
	managed []run.Resource
	ids     secretIDs
	// contents has no secrets in plain text.
	contents contents
}

// settled reports whether nothing was in flight.
func (s state) settled() bool { return len(s.creates)+len(s.others) == 0 }

// targets are the resources to refresh to settle what was in flight. Any refresh drops
// the operations themselves, so the stack's own resource is enough if there are only
// creations, which a refresh cannot settle. No targets means all resources: if an
// operation is about a resource that is not in the state, or if there are too many.
func (s state) targets() []string {
	targets := s.others
	if len(targets) == 0 {
		targets = []string{s.root}
	}
	if len(targets) > maxTargets || slices.ContainsFunc(targets, func(urn string) bool { return !s.resources[urn] }) {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(targets)))
}

// readState reads an exported state.
func readState(path string) (state, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, errors.New("the state of the stack was not exported")
	}
	if err != nil {
		return state{}, fmt.Errorf("reading the state of the stack: %w", err)
	}
	if info.Size() > maxState {
		return state{}, fmt.Errorf("the state of the stack is bigger than %d bytes", maxState)
	}
	file, err := os.Open(path)
	if err != nil {
		return state{}, fmt.Errorf("reading the state of the stack: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	// Properties are in {"deployment": {"resources": [{"inputs": {...}}]}}, as deep as in an
	// event.
	most := ofEvents()
	most.total = maxState
	reduced := newReducer(most)
	if _, err := io.Copy(reduced, file); err != nil {
		return state{}, fmt.Errorf("reading the state of the stack: %w", err)
	}
	if reduced.over {
		return state{}, errors.New("reading the state of the stack: what it has beside the properties of resources is too big")
	}
	read, err := parseState(reduced.out)
	read.contents.hasSecrets = read.contents.hasSecrets || reduced.secrets > 0
	return read, err
}

// parseState decodes only what is needed, and not the properties of resources.
func parseState(text []byte) (state, error) {
	type resource struct {
		URN  string `json:"urn"`
		Type string `json:"type"`
	}
	type entry struct {
		resource
		stepState
		Outputs struct{} `json:"outputs"` // not decoded
		// PendingReplacement marks what is deleted, and is to be created again.
		PendingReplacement bool `json:"pendingReplacement"`
	}
	var exported struct {
		Deployment struct {
			Resources []entry `json:"resources"`
			Pending   []struct {
				Type     apitype.OperationType `json:"type"`
				Resource resource              `json:"resource"`
			} `json:"pending_operations"`
		} `json:"deployment"`
	}
	if err := json.Unmarshal(text, &exported); err != nil {
		return state{}, fmt.Errorf("reading the state of the stack: %w", err)
	}
	read := state{resources: make(map[string]bool), contents: contents{hasSecrets: isSecret(text)}}
	for _, known := range exported.Deployment.Resources {
		if isDynamic(known.Type) {
			read.contents.dynamic = known.Type
		}
		read.resources[known.URN] = true
		if known.Type == stackType {
			read.root = known.URN
		}
		read.ids.see(known.URN, known.Type, &known.stepState)
		if isManaged(known.Type, known.URN) && !known.Delete && !known.PendingReplacement {
			read.managed = append(read.managed, managedOf(known.URN, known.Type, &known.stepState))
		}
	}
	for _, operation := range exported.Deployment.Pending {
		if operation.Type == apitype.OperationTypeCreating {
			read.creates = append(read.creates, operation.Resource.URN)
		} else {
			read.others = append(read.others, operation.Resource.URN)
		}
	}
	return read, nil
}
