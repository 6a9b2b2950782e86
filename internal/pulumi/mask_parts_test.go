// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestThePartsOfASecretAreMasked(t *testing.T) {
	kubeconfig := "apiVersion: v1\nkind: Config\nusers:\n- name: x\n  user:\n    token: canary-kubetoken\n    password: short6\n"
	for name, test := range map[string]struct{ secret, text, want string }{
		"a text in an object":         {`{"server": "hunter2hunter2"}`, "cannot decode map[server:{hunter2hunter2}]", "cannot decode map[server:{***}]"},
		"one further down":            {` [{"users": ["hunter2hunter2"]}]`, "user hunter2hunter2", "user ***"},
		"a short one":                 {`{"region": "eu-1"}`, "in eu-1", "in eu-1"},
		"a short one named a secret":  {`{"dbPassword": "zpw-b4", "passwords": ["abcd"], "key": true}`, "zpw-b4 abcd true", "*** *** true"},
		"a text in YAML":              {`{server: hunter2hunter2}`, "hunter2hunter2", "***"},
		"the token of a kubeconfig":   {kubeconfig, "token canary-kubetoken, short6", "token ***, ***"},
		"its names":                   {kubeconfig, "users: Config v1 of x, user:", "users: Config v1 of x, user:"},
		"the second document":         {"a: b\n---\nc: hunter2hunter2\n", "hunter2hunter2", "***"},
		"a structure in a structure":  {`{"config": "users:\n- token: hunter2hunter2\n"}`, "hunter2hunter2", "***"},
		"what is no structure":        {"one: two: three:\n\t- x", "three: x", "three: x"},
		"the password in a URL":       {"postgres://bob:hunter22@db/x", "password hunter22 of bob", "password *** of bob"},
		"that in a structure":         {`{"url": "postgres://bob:hunter22@db/x"}`, "password hunter22 of bob", "password *** of bob"},
		"short lines that are alone":  {"zl1-b3\nzl2-b3\n", "is\n  zl2-b3\n  zl1-b3", "is\n  ***\n  ***"},
		"short lines as words only":   {"done\nab\n", "done, undone, ab", "***, undone, ab"},
		"lines of Windows, and blank": {"zl1-b3\r\n\r\n zl2-b3\r\n", "zl2-b3 zl1-b3", "*** ***"},
		"indented":                    {"one\n two\n  three\n", "is\n    one\n     two\n      three\n.", "is\n    ***\n."},
		"folded":                      {"one two three", "is one\n  two\n  three.", "is ***."},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(newMasker([]string{test.secret}).apply(test.text)).To(Equal(test.want))
		})
	}
}
