// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package outputs

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Hidden are the values of the data that the status does not show in full: secret ones,
// those that have one in them, and those that are too big to be shown. The others
// are known to whoever may read what they would be taken out of.
func Hidden(data map[string][]byte, shown map[string]apiextensionsv1.JSON) []string {
	var hidden []string
	for _, name := range slices.Sorted(maps.Keys(data)) {
		known, err := text(shown[name].Raw)
		if err != nil || string(known) != string(data[name]) {
			hidden = append(hidden, string(data[name]))
		}
	}
	return hidden
}
