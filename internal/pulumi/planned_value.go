// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxKeptValue bounds a value that is kept to be shown, in bytes. It is masked before it is
// cut to what is shown, as a part of a secret could not be masked.
const maxKeptValue = 64 << 10

// hiddenText takes the place of values that the program does not want to be shown.
const hiddenText = "[hidden]"

// plannedValue is a value before it is masked, the zero value for none.
type plannedValue struct {
	// shown is the value as JSON for a person.
	shown json.RawMessage
	// sum is the keyed hash of the whole value, as the engine reports it.
	sum string
	// hidden is what shown does not say, in order.
	hidden []string
	// secret is set if a part of it is secret, partial if shown is not all of it.
	secret, partial bool
}

func (v *plannedValue) hide() {
	if v.shown != nil {
		v.shown, v.partial = quote(hiddenText), true
	}
}

// valueReader reads values of the events, with the key for their hashes.
type valueReader struct {
	key []byte
	// done is set if the resources are as they are after the steps, not as they are planned.
	done bool
}

// sum is the keyed hash of texts.
func (r valueReader) sum(texts ...string) string {
	hash := hmac.New(sha256.New, r.key)
	for _, text := range texts {
		_, _ = fmt.Fprintf(hash, "%d:%s,", len(text), text) // never fails
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// value reads a decoded value, and leaves it as it is.
func (r valueReader) value(value any, ok bool) plannedValue {
	if !ok {
		return plannedValue{}
	}
	var read readable
	shown := quote(read.form(value))
	v := plannedValue{shown: shown, sum: r.sum(append(read.hidden, string(shown))...), hidden: read.hidden, secret: read.secret, partial: read.partial}
	if len(shown) > maxKeptValue {
		v.shown, v.partial = quote(fmt.Sprintf(run.TooBigMark+": %d bytes]", len(shown))), true
	}
	return v
}

// readable converts a value to the form that a person reads, without what only Pulumi
// understands.
type readable struct {
	// hidden is what the form does not say, in order.
	hidden          []string
	secret, partial bool
}

func (r *readable) form(value any) any {
	switch value := value.(type) {
	case string:
		if isUnknown(value) {
			r.hidden = append(r.hidden, "unknown")
			return plan.Unknown
		}
		r.secret = r.secret || strings.Contains(value, mask.SecretText) // Pulumi has replaced a part of it
		return value
	case []any:
		list := make([]any, 0, len(value))
		for _, inner := range value {
			list = append(list, r.form(inner))
		}
		return list
	case map[string]any:
		return r.object(value)
	}
	return value
}

func (r *readable) object(object map[string]any) any {
	if cut, ok := object[cutSign].(map[string]any); ok {
		r.partial, r.secret = true, r.secret || hasSecrets(cut)
		r.hidden = append(r.hidden, fmt.Sprint(cut["Hash"]))
		return fmt.Sprintf(run.TooBigMark+": %v bytes]", cut["Bytes"])
	}
	switch object[sig.Key] {
	case sig.Secret:
		r.secret, r.hidden = true, append(r.hidden, "secret")
		return mask.SecretText
	case sig.AssetSig:
		return r.file("asset", object)
	case sig.ArchiveSig:
		return r.file("archive", object)
	case sig.OutputValue:
		if inner, known := object["value"]; known {
			return r.form(inner)
		}
		return r.form(plugin.UnknownStringValue)
	}
	shown := make(map[string]any, len(object))
	object = unsigned(maps.Clone(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		shown[name] = r.form(object[name])
	}
	return shown
}

// file is the form of an asset or an archive, which its hash stands for: the path of its
// files may differ from run to run.
func (r *readable) file(what string, object map[string]any) any {
	hash, _ := object["hash"].(string)
	if r.hidden = append(r.hidden, what); hash == "" {
		r.partial, r.hidden = true, append(r.hidden, fmt.Sprint(object))
		return "[" + what + "]"
	}
	return fmt.Sprintf("[%s sha256:%s]", what, hash)
}

// isOpaque reports whether the members of a value are not known.
func isOpaque(value any) bool {
	switch value := value.(type) {
	case string:
		return isUnknown(value)
	case map[string]any:
		_, cut := value[cutSign]
		_, signed := value[sig.Key]
		return cut || signed
	}
	return false
}

// isUnknown reports whether a text is one of Pulumi's placeholders for an unknown value,
// one for each type of values.
func isUnknown(text string) bool {
	switch text {
	case plugin.UnknownStringValue, plugin.UnknownBoolValue, plugin.UnknownNumberValue, plugin.UnknownArrayValue,
		plugin.UnknownObjectValue, plugin.UnknownAssetValue, plugin.UnknownArchiveValue:
		return true
	}
	return false
}
