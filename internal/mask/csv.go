// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/csv"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// structureInCSV reads CSV with a header line that names a secret, as cloud consoles
// export new keys, as a list of objects.
func structureInCSV(value string) ([]*yaml.Node, bool) {
	head, _, more := strings.Cut(value, "\n")
	if len(value) > maxStructure || !more || strings.ContainsAny(head, "=:{[<") {
		return nil, false
	}
	reader := csv.NewReader(strings.NewReader(value))
	for _, sign := range ",;\t" {
		if strings.ContainsRune(head, sign) {
			reader.Comma = sign
			break
		}
	}
	rows, err := reader.ReadAll()
	if err != nil || len(rows) < 2 || len(rows[0]) < 2 || !slices.ContainsFunc(rows[0], isSecretName) {
		return nil, false
	}
	table := &yaml.Node{Kind: yaml.SequenceNode}
	for _, row := range rows[1:] {
		item := &yaml.Node{Kind: yaml.MappingNode}
		for n, text := range row {
			item.Content = append(item.Content, scalar(rows[0][n]), scalar(text))
		}
		table.Content = append(table.Content, item)
	}
	return []*yaml.Node{table}, true
}
