// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"
)

func TestThePartsOfASecretAreMasked(t *testing.T) {
	kubeconfig := "apiVersion: v1\nkind: Config\nusers:\n- name: x\n  user:\n    token: canary-kubetoken\n    password: short6\n"
	for name, test := range map[string]struct{ secret, text, want string }{
		"a text in an object":                 {`{"answer": "hunter2hunter2"}`, "cannot decode map[server:{hunter2hunter2}]", "cannot decode map[server:{***}]"},
		"a nested one":                        {` [{"users": ["hunter2hunter2"]}]`, "user hunter2hunter2", "user ***"},
		"a short text":                        {`{"region": "eu-1"}`, "in eu-1", "in eu-1"},
		"a short one named a secret":          {`{"dbPassword": "zpw-b4", "passwords": ["abcd"], "key": true}`, "zpw-b4 abcd true", "*** *** true"},
		"a text in YAML":                      {`{answer: hunter2hunter2}`, "hunter2hunter2", "***"},
		"the token of a kubeconfig":           {kubeconfig, "token canary-kubetoken, short6", "token ***, ***"},
		"the names in a kubeconfig":           {kubeconfig, "users: Config v1 of x, user:", "users: Config v1 of x, user:"},
		"the second document":                 {"a: b\n---\nc: hunter2hunter2\n", "hunter2hunter2", "***"},
		"a structure in a structure":          {`{"config": "users:\n- token: hunter2hunter2\n"}`, "hunter2hunter2", "***"},
		"a word that is a short password":     {`{"password": "list", "secrets": {"a": "bold"}}`, "a list of bold lists, listed boldly", "a *** of *** lists, listed boldly"},
		"a password that is too short":        {`{"password": "abc"}`, "abc", "abc"},
		"the value of a variable":             {`[{"name": "DB_PASSWORD", "value": "zcanary-pw"}, {"name": "HOST", "value": "zcanary-host"}]`, "zcanary-pw at zcanary-host", "*** at zcanary-host"},
		"what looks like a key":               {`{"a": "ghp16C7e42F292c6912", "b": "hunter22", "c": "p!ssw0rd"}`, "ghp16C7e42F292c6912 hunter22 p!ssw0rd", "*** hunter22 ***"},
		"the URL of a webhook":                {`{"url": "https://hooks.example.com/T0/Ab12cd34Ef56gh"}`, "at https://hooks.example.com/T0/Ab12cd34Ef56gh", "at ***"},
		"the URL of something else":           {`{"url": "https://app.example.com/v1/users/login2"}`, "at https://app.example.com/v1/users/login2", "at https://app.example.com/v1/users/login2"},
		"a webhook under another name":        {`{"hook": "https://hooks.example.com/T0/Ab12cd34Ef56gh"}`, "at https://hooks.example.com/T0/Ab12cd34Ef56gh", "at ***"},
		"a file of variables":                 {"DB_PASSWORD=zcanary-pw\nexport DB_USER=administrator\n", "zcanary-pw of administrator", "*** of administrator"},
		"INI":                                 {"[default]\naws_secret_access_key = zcanary-key\nregion = middle-earth\n", "zcanary-key in middle-earth", "*** in middle-earth"},
		"TOML":                                {"password = \"zcanary pw\"\n", "login with zcanary pw", "login with ***"},
		"a connection":                        {"Server=tcp:db.example.com;User ID=bob;Password=zcanary-pw;Encrypt=True", "bob with zcanary-pw at db.example.com", "bob with *** at db.example.com"},
		"a key of an account":                 {"DefaultEndpointsProtocol=https;AccountName=storage;AccountKey=emNhbmFyeS1rZXk=", "https storage emNhbmFyeS1rZXk=", "https storage ***"},
		"a connection of libpq":               {"host=db user=bob password=zcanary-pw sslmode=require", "bob with zcanary-pw, require", "bob with ***, require"},
		"the login for a registry":            {`{"auths":{"ghcr.io":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("bob:zcanary-pw")) + `"}}}`, "ghcr.io bob:zcanary-pw with zcanary-pw", "ghcr.io *** with ***"},
		"a Secret":                            {"kind: Secret\ndata:\n  password: " + base64.StdEncoding.EncodeToString([]byte("zcanary-pw")) + "\n  user: " + base64.StdEncoding.EncodeToString([]byte("administrator")) + "\n", "zcanary-pw of administrator", "*** of administrator"},
		"a structure in base64":               {base64.StdEncoding.EncodeToString([]byte(`{"password": "zcanary-pw"}`)), "zcanary-pw", "***"},
		"a text that is not structured":       {"one: two: three:\n\t- x", "three: x", "three: x"},
		"the password in a URL":               {"postgres://bob:hunter22@db/x", "password hunter22 of bob", "password *** of bob"},
		"the passwords in URLs, one per line": {"https://bob:hunter22@one\nhttps://eve:hunter33@two\n", "bob hunter22, eve hunter33", "bob ***, eve ***"},
		"the password in a URL in an object":  {`{"url": "postgres://bob:hunter22@db/x"}`, "password hunter22 of bob", "password *** of bob"},
		"short lines that are alone":          {"zl1-b3\nzl2-b3\n", "is\n  zl2-b3\n  zl1-b3", "is\n  ***\n  ***"},
		"short lines as words only":           {"done\nab\n", "done, undone, ab", "***, undone, ab"},
		"lines of Windows, and blank":         {"zl1-b3\r\n\r\n zl2-b3\r\n", "zl2-b3 zl1-b3", "*** ***"},
		"indented":                            {"one\n two\n  three\n", "is\n    one\n     two\n      three\n.", "is\n    ***\n."},
		"folded":                              {"one two three", "is one\n  two\n  three.", "is ***."},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(New([]string{test.secret}).Apply(test.text)).To(Equal(test.want))
		})
	}
}
