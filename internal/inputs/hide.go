// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"fmt"
	"strings"
)

// HideConfig makes a secret config value of a plain one, where there is one of that key:
// it is masked, and a text as all of them, for which Pulumi has the same text as for the
// value itself. The digest stays, as the value is the same.
func (i *Inputs) HideConfig(key string) error {
	raw, ok := i.Config[key]
	if !ok {
		return nil
	}
	text := string(raw)
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(raw, &text); err != nil {
			return fmt.Errorf("config %q: not JSON: %w", key, err)
		}
	}
	delete(i.Config, key)
	i.Secrets[key] = text
	i.Masks = masksOf(append(i.Masks, text))
	return nil
}
