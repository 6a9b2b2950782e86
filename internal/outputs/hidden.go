// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package outputs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Hidden returns the values in the data that the status does not show in full: secret
// values, values that contain one, and values too big to show. All others are known to
// whoever may read the texts that Hidden values are masked in.
func Hidden(data map[string][]byte, shown map[string]apiextensionsv1.JSON) []string {
	var hidden []string
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if !isShown(data[name], shown[name]) {
			hidden = append(hidden, string(data[name]))
		}
	}
	return hidden
}

// Plain returns the values in the data as JSON. The data has no types: what the status
// shows in full has its type in the status. Of the rest, JSON objects and lists stay
// such, and everything else becomes a string.
func Plain(data map[string][]byte, shown map[string]apiextensionsv1.JSON) map[string]json.RawMessage {
	plain := make(map[string]json.RawMessage, len(data))
	for name, value := range data {
		if isShown(value, shown[name]) {
			plain[name] = shown[name].Raw
		} else {
			plain[name] = guessed(value)
		}
	}
	return plain
}

// isShown reports whether the status shows the value in full.
func isShown(value []byte, shown apiextensionsv1.JSON) bool {
	known, err := text(shown.Raw)
	return err == nil && string(known) == string(value)
}

// Differ reports whether the data is of another update than what the status shows. It
// compares only texts that are shown in full: the API server may write a number in
// another way.
func Differ(data map[string][]byte, shown map[string]apiextensionsv1.JSON) bool {
	for name, value := range data {
		var known string
		if json.Unmarshal(shown[name].Raw, &known) != nil || isPartly(known) {
			continue
		}
		if known != string(value) {
			return true
		}
	}
	return false
}

// isPartly reports whether the status does not show all of an output.
func isPartly(shown string) bool {
	return slices.ContainsFunc([]string{mask.SecretText, mask.MaskText, run.TooBigMark, run.NotShownMark},
		func(mark string) bool { return strings.Contains(shown, mark) })
}

func guessed(value []byte) json.RawMessage {
	if json.Valid(value) && (value[0] == '{' || value[0] == '[') {
		return value
	}
	quoted, err := json.Marshal(string(value))
	if err != nil {
		return json.RawMessage(`""`) // a string can always be encoded
	}
	return quoted
}
