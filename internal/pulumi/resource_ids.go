// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// secretIDs says whether the ID of a resource may be a secret. To Pulumi none is one: it is
// in plain in the events and in the state also where an output has the same text and is a
// secret.
type secretIDs struct {
	// unshown are the URNs of those whose ID none of their other outputs shows in plain.
	unshown map[string]bool
	// made says that there are secret outputs that are none of the inputs.
	made bool
}

// see notes a resource. The IDs of providers are drawn by Pulumi.
func (i *secretIDs) see(urn, typ string, at *stepState) {
	for name, raw := range at.Outputs {
		i.made = i.made || at.Inputs[name] == nil && isSecret(raw)
	}
	if at.ID == "" || strings.HasPrefix(typ, "pulumi:providers:") || showsID(at.Outputs, at.ID) {
		delete(i.unshown, urn)
		return
	}
	note(&i.unshown, urn)
}

func isSecret(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(secretSignature)) }

func showsID(outputs map[string]json.RawMessage, id string) bool {
	text := bytes.Trim(quote(id), `"`)
	for name, raw := range outputs {
		if name != "id" && bytes.Contains(raw, text) {
			return true
		}
	}
	return false
}

// toldIDs are those of which the inventory of the run tells.
func (s *session) toldIDs() secretIDs {
	if s.run.Operation == run.Recover && s.state != nil {
		return s.state.ids
	}
	ids := s.events.resources.ids
	for _, raw := range s.events.outputs {
		ids.made = ids.made || isSecret(raw)
	}
	return ids
}

// learnIDs reads the secrets of the state where an ID may be one of them. They do not mask
// what else is told of a run that went well.
func (s *session) learnIDs(ctx context.Context) {
	hasInventory := s.run.Operation == run.Update || s.run.Operation == run.Recover
	if s.disclosed || s.prepared == nil || !s.found || s.checking || !hasInventory {
		return
	}
	if ids := s.toldIDs(); !ids.made || len(ids.unshown) == 0 {
		return
	}
	secrets, err := s.stateSecrets(ctx)
	if err != nil {
		s.idsUnread = true
		s.say(fmt.Sprintf("the IDs that may be secrets are not listed, as the secrets of the state cannot be read: %v", err))
		return
	}
	s.ids = mask.New(secrets)
}

// hideIDs masks the IDs that are secrets, or leaves out those that may be.
func (s *session) hideIDs(resources []run.Resource) {
	ids := s.toldIDs()
	for n := range resources {
		one := &resources[n]
		switch {
		case s.idsUnread && ids.made && ids.unshown[one.URN]:
			one.ID = ""
		case s.ids != nil && one.ID != "":
			one.ID = s.ids.Apply(one.ID)
		}
	}
}
