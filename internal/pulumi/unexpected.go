// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// maxChanged bounds the changed resources whose names are kept. The engine reports them
// in any order, and the message sorts them and shows the first, so that the same
// changes give the same message.
const maxChanged = 1000

// noteChanged notes what a refresh finds: an edited resource is an update, a missing
// one a delete.
func (e *events) noteChanged(event *stepEvent) {
	var what string
	switch event.Metadata.Op {
	case apitype.OpUpdate:
		what = "changed"
	case apitype.OpDelete:
		what = "gone"
	default:
		return
	}
	switch meta := event.Metadata; {
	case isDefaultProvider(meta.Type, meta.URN):
		return // it follows the program, and the summary does not count it
	case strings.HasPrefix(meta.Type, providerType):
		e.changedProviders++
		return
	}
	if e.changedCount++; e.changedCount <= maxChanged {
		e.changed = append(e.changed, shortName(event.Metadata.URN)+" is "+what)
	}
}

// onlyProvidersChanged reports whether a refresh found only changed provider settings.
// Those come from the program, for example with renewed credentials, and exist nowhere
// else.
func (e *events) onlyProvidersChanged() bool {
	if e.summary == nil {
		return false
	}
	count := 0
	for op, n := range e.summary.ResourceChanges {
		if op != apitype.OpSame {
			count += n
		}
	}
	return e.changedCount == 0 && count == e.changedProviders
}
