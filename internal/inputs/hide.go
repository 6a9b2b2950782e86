// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"fmt"
	"strings"
)

// HideConfig turns a plain config value, if there is one with that key, into a secret
// one, which is masked. Secret config values are text, and Pulumi's text for a JSON value
// is that JSON. The value itself does not change, so neither does the digest.
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
