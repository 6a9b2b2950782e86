// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/logging"

	. "github.com/onsi/gomega"
)

// Pulumi replaces config secrets in its output, which must not keep a longer secret from
// being masked.
func TestASecretWithAnotherOneInItIsMasked(t *testing.T) {
	many := []string{"plain1", "p@1", "p@2", "p@3", "p@4", "p@5", "p@6"}
	quoted := []string{"p@1", "p'2", "p@3", "p'4", "p&4", "p@5", "p'6"}
	for name, test := range map[string]struct {
		config     []string
		secret     string
		text, want string
	}{
		"in the middle":                   {[]string{"admin"}, "postgres://admin:tail-b2@db/x", "at postgres://[secret]:tail-b2@db/x", "at ***"},
		"not replaced":                    {[]string{"admin"}, "postgres://admin:tail-b2@db/x", "at postgres://admin:tail-b2@db/x", "at ***"},
		"at the start":                    {[]string{"admin"}, "admin-and-tail", "[secret]-and-tail", "***"},
		"at the end":                      {[]string{"admin"}, "head-of-admin", "head-of-[secret].", "***."},
		"twice":                           {[]string{"admin"}, "admin-or-admin-tail", "[secret]-or-[secret]-tail", "***"},
		"two":                             {[]string{"admin", "tail"}, "admin-or-tail", "[secret]-or-[secret]", "***"},
		"the shorter of two at one place": {[]string{"admin", "admin-or"}, "admin-or-tail", "[secret]-or-tail", "***"},
		"the longer of two at one place":  {[]string{"admin", "admin-or"}, "admin-or-tail", "[secret]-tail", "***"},
		"both of them":                    {[]string{"abc", "abcde"}, "abcde/abcde/tail", "[secret]/[secret]de/tail", "***"},
		"the whole secret":                {[]string{"admin"}, "admin", "[secret] and [secret].", "[secret] and [secret]."},
		"the whole secret, and a newline": {[]string{"admin"}, "admin\n", "[secret]\nb", "[secret]\nb"},
		"in JSON":                         {[]string{`ad"min`}, `x{"p":"ad\"min-tail"}`, `x{"p":"[secret]-tail"}`, "***"},
		"in a string in JSON":             {[]string{"admin"}, `ad"admin"-tail`, `"ad\"[secret]\"-tail"`, `"***"`},
		"one that %q escapes":             {[]string{"ad\x7fmin"}, "head-ad\x7fmin-tail", `"head-ad\x7fmin-tail"`, `"***"`},
		"many that are escaped":           {many, "plain1:p@1;p@2;p@3;p@4;p@5;p@6;tail-b2", "dsn [secret]:p%401;p%402;p%403;p%404;p%405;p%406;tail-b2", "dsn ***"},
		"one that is escaped many times":  {[]string{"a/b"}, "a/b a/b a/b a/b a/b a/b tail-b2", "is a%2Fb+a%2Fb+a%2Fb+a%2Fb+a%2Fb+a%2Fb+tail-b2", "is ***"},
		"many that are not escaped":       {many, "plain1:p@1;p@2;p@3;p@4;p@5;p@6;tail-b2", "is [secret]:[secret];[secret];[secret];[secret];[secret];[secret];tail-b2", "is ***"},
		"many, some of which SQL doubles": {quoted, "p@1;p'2;p@3;p'4;p@5;p'6;tail-b2", "is '[secret];p''2;[secret];p''4;[secret];p''6;tail-b2'", "is '***'"},
		"many, some of which HTML names":  {quoted, "p@1;p'2;p@3;p&4;p@5;p'6;tail-b2", "is [secret];p&#39;2;[secret];p&amp;4;[secret];p&#39;6;tail-b2", "is ***"},
		"by chance, in base64":            {[]string{"YWx"}, "user:value-b2", "is dXNlcjp2[secret]1ZS1iMg==", "is ***=="},
		"one that Pulumi does not filter": {[]string{"ad", "true"}, "head-ad-true-tail", "head-[secret]-true-tail", "head-[secret]-true-tail"},
		"in a line of a longer secret":    {[]string{"admin"}, "one line of admin\nand another", "one line of [secret]", "***"},
	} {
		t.Run(name, func(t *testing.T) {
			m := Filtered(test.config, []string{test.secret})
			NewWithT(t).Expect(m.Apply(test.text)).To(Equal(test.want))
		})
	}
}

// The SDK and the CLI share the same filter.
func TestTheFilterOfPulumi(t *testing.T) {
	g := NewWithT(t)
	config := []string{"zq-admin", `zq"quoted"`, "zq", "TRUE"}
	logging.AddGlobalSecretFilter(config, SecretText)
	for _, secret := range []string{"pw zq-admin tail", `{"p":"zq\"quoted\" tail"}`, `pw zq"quoted" tail`, "pw zq-TRUE tail"} {
		m := Filtered(config, []string{secret})
		g.Expect(m.Apply("<"+logging.FilterString(secret)+">")).To(Equal("<***>"), secret)
	}
}
