// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const exportedState = `{"version": 3, "deployment": {
	"manifest": {"time": "2026-11-26T09:47:07Z", "magic": "ab", "version": "v3.274.1"},
	"secrets_providers": {"type": "passphrase", "state": {"salt": "v1:a"}},
	"resources": [
		{"urn": "urn:a", "type": "lab:index:Thing", "inputs": {"created": "kept", "n": 12345678901234567890},
		 "created": "2026-11-26T09:47:07Z", "modified": "2026-11-26T09:47:07Z", "sourcePosition": "main.go#1", "stackTrace": [{}]},
		{"urn": "urn:b", "type": "lab:index:Thing"}
	],
	"pending_operations": [{"resource": {"urn": "urn:c", "modified": "2026-11-26T09:47:07Z"}, "type": "creating"}]
}}`

func TestTheDigestOfAStateIsOfWhatMatters(t *testing.T) {
	g := NewWithT(t)
	digest := func(text string) string {
		path := filepath.Join(t.TempDir(), "state.json")
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		made, err := stateDigest(path)
		g.Expect(err).NotTo(HaveOccurred())
		return made
	}
	base := digest(exportedState)
	for name, edit := range map[string][2]string{
		"times":           {"09:47", "10:51"},
		"a version":       {"v3.274.1", "v3.260.0"},
		"a position":      {"main.go#1", "main.go#2"},
		"white space":     {"\n", " "},
		"order of fields": {`"urn": "urn:b", "type": "lab:index:Thing"`, `"type": "lab:index:Thing", "urn": "urn:b"`},
	} {
		g.Expect(digest(strings.ReplaceAll(exportedState, edit[0], edit[1]))).To(Equal(base), name)
	}
	for name, edit := range map[string][2]string{
		"an input":            {"kept", "other"},
		"a digit":             {"12345678901234567890", "12345678901234567891"},
		"a resource":          {"urn:b", "urn:z"},
		"a pending operation": {"creating", "deleting"},
		"the secrets":         {"v1:a", "v1:b"},
	} {
		g.Expect(digest(strings.ReplaceAll(exportedState, edit[0], edit[1]))).NotTo(Equal(base), name)
	}
	g.Expect(digest(`{"version": 3, "deployment": null}`)).To(Equal(digest(`{"version": 3}`)), "an empty stack")
}

func TestWhatIsNoStateHasNoDigest(t *testing.T) {
	for _, text := range []string{"", "[]", `{"deployment": []}`, `{"deployment": {"resources": {}}}`, `{"deployment": {"resources": [`, `{"deployment": "secret"}`} {
		g := NewWithT(t)
		path := filepath.Join(t.TempDir(), "state.json")
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		_, err := stateDigest(path)
		g.Expect(err).To(MatchError(errNotState), text)
		g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
	}
}
