// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package apierror

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestValuesAreHidden(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	token, all := "canary-token", `{"pw":"canary-token-and-tail"}`
	values := []string{token, all, "ab"}
	for name, test := range map[string]struct{ said, want string }{
		"as they are":       {"token canary-token, ab", "token ***, ***"},
		"the longest first": {`is {"pw":"canary-token-and-tail"}`, "is ***"},
		"a part":            {"is canary-token-and-tail", "is ***"},
		"in base64":         {"data.token: value " + base64.StdEncoding.EncodeToString([]byte(token)) + " is not allowed", "data.token: value *** is not allowed"},
		"in JSON":           {fmt.Sprintf("%q", all), `"***"`},
		"none":              {"no room", "no room"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := fmt.Errorf("failed to create Secret a/b: %w", HideValues(apierrors.NewForbidden(secrets, "out", errors.New(test.said)), values))
			g.Expect(err.Error()).To(HaveSuffix(test.want))
			g.Expect(IsRefused(err)).To(BeTrue())
		})
	}
	g := NewWithT(t)
	g.Expect(HideValues(nil, values)).To(Succeed())
	long := HideValues(errors.New(strings.Repeat("x", 2*maxHidden)), values)
	g.Expect(len(long.Error())).To(BeNumerically("<=", maxHidden+len("...")))
}
