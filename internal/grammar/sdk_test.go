// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// The rules of this package must match the SDK, which only tests may import.

func TestSigKeyIsPulumis(t *testing.T) {
	NewWithT(t).Expect(SigKey).To(Equal(sig.Key))
}

func isAsThe(t *testing.T, what, text string, sdk, here error) {
	t.Helper()
	if (sdk == nil) != (here == nil) {
		t.Errorf("%s %q: the SDK says %v, and the rule %v", what, text, sdk, here)
	}
}

func FuzzNamesAreThoseOfPulumi(f *testing.F) {
	for _, seed := range []string{"", "dev", "a_b.c-9", "d ev", "ä", "a/b", "a\n", "-", ".", "K", strings.Repeat("a", 100), strings.Repeat("a", 101)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := tokens.ParseStackName(text)
		isAsThe(t, "stack", text, err, checkStack(text))
		isAsThe(t, "project", text, tokens.ValidateProjectName(text), checkProject(text))
		if tokens.IsName(text) != isName(text) {
			t.Errorf("name %q: the rule says %v", text, isName(text))
		}
	})
}

func FuzzConfigKeysAreThoseOfPulumi(f *testing.F) {
	for _, seed := range []string{"a:b", "a:config:b", "a:other:b", "a:b:c:d", ":", "::", ":a", "a:", "a:config:", ":config:a", "", "a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sdk, err := config.ParseKey(text)
		here, ours := splitKey(text)
		isAsThe(t, "config key", text, err, ours)
		if err == nil && (sdk.Namespace() != here.Namespace || sdk.Name() != here.Name) {
			t.Errorf("config key %q: the SDK has %q and %q, and the rule %+v", text, sdk.Namespace(), sdk.Name(), here)
		}
	})
}
