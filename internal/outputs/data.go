// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package outputs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxNamed bounds how many outputs an error names.
const maxNamed = 10

// Data returns the outputs as the data of a Secret: strings as they are, other values as
// JSON. The error says what to do, and contains no value.
func Data(plain run.PlainOutputs) (map[string][]byte, error) {
	if err := missing(plain); err != nil {
		return nil, err
	}
	data, size := make(map[string][]byte, len(plain.Values)), 0
	for _, name := range slices.Sorted(maps.Keys(plain.Values)) {
		if problems := validation.IsConfigMapKey(name); len(problems) > 0 {
			return nil, fmt.Errorf("output %q is not a valid key of a Secret (letters, digits, '-', '_' and '.'): rename the output, "+
				"or list the outputs to write in spec.writeOutputsToSecret.keys", name)
		}
		text, err := text(plain.Values[name])
		if err != nil {
			return nil, fmt.Errorf("output %q cannot be read: %w", name, err)
		}
		data[name] = text
		size += len(name) + len(text)
	}
	if size > corev1.MaxSecretSize {
		return nil, fmt.Errorf("the outputs have %d bytes, the limit of a Secret is %d: list the outputs to write in spec.writeOutputsToSecret.keys",
			size, corev1.MaxSecretSize)
	}
	return data, nil
}

// missing reports the wanted outputs that the stack does not have.
func missing(plain run.PlainOutputs) error {
	var names []string
	for _, key := range plain.Wanted.Keys {
		if _, ok := plain.Values[key]; !ok {
			names = append(names, fmt.Sprintf("%q", key))
		}
	}
	if len(names) == 0 {
		return nil
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return fmt.Errorf("the stack has no output %s: add it to the program, or remove it from spec.writeOutputsToSecret.keys",
		plural.Some(names, maxNamed))
}

// text returns the value as written to the Secret. It normalizes JSON, so that the Secret
// does not change with the CLI's formatting of objects. The error contains nothing of the
// value.
func text(raw json.RawMessage) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // keeps numbers of any length as written
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, errors.New("it is not JSON")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one JSON value")
	}
	if s, ok := value.(string); ok {
		return []byte(s), nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, errors.New("it cannot be written as JSON")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
