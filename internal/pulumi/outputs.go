// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// maxOutputs bounds the outputs of a result: they become part of an object in etcd,
	// whose limit is 1.5 MiB.
	maxOutputs = 256 << 10
	maxOutput  = 64 << 10
)

// showOutputs makes outputs fit to be shown: secrets become "[secret]", texts are
// masked, and the size is bounded.
func showOutputs(outputs map[string]json.RawMessage, m *mask.Masker, written writtenNames) map[string]json.RawMessage {
	if outputs == nil {
		return nil
	}
	shown := make(map[string]json.RawMessage, len(outputs))
	total := 0
	sorted := slices.Sorted(maps.Keys(outputs))
	names := written.shown(sorted, m)
	for _, name := range sorted {
		text, size := showOutput(outputs[name], m, written)
		if size > maxOutput || total+size > maxOutputs {
			text = quote(fmt.Sprintf(run.TooBigMark+": %d bytes]", size))
		}
		if total += len(text) + len(name); total > maxOutputs {
			break
		}
		shown[names[name]] = text
	}
	return shown
}

// showOutput returns an output as it is shown, and its size, even if it was too big to be kept.
func showOutput(raw json.RawMessage, m *mask.Masker, written writtenNames) (json.RawMessage, int) {
	if cut, ok := cutOf(raw); ok {
		return nil, max(cut.Bytes, maxOutput+1)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		value = "[not readable]"
	}
	text := quote(showValue(value, m, written))
	return text, len(text)
}

// quote is JSON that keeps characters such as & readable.
func quote(value any) json.RawMessage {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return json.RawMessage(`"[not readable]"`)
	}
	return bytes.TrimSpace(buffer.Bytes())
}

func showValue(value any, m *mask.Masker, written writtenNames) any {
	switch value := value.(type) {
	case string:
		return m.Apply(value)
	case json.Number:
		if masked := m.Apply(value.String()); masked != value.String() {
			return masked
		}
	case []any:
		for i := range value {
			value[i] = showValue(value[i], m, written)
		}
	case map[string]any:
		if value[sig.Key] == sig.Secret {
			return mask.SecretText
		}
		shown := make(map[string]any, len(value))
		plain := unsigned(value)
		names := written.shown(slices.Collect(maps.Keys(plain)), m)
		for key, inner := range plain {
			shown[names[key]] = showValue(inner, m, written)
		}
		return shown
	}
	return value
}
