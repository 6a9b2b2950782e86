// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestSecretsInAURLAreMasked(t *testing.T) {
	for name, test := range map[string]struct{ url, text, want string }{
		"a password":                                 {"postgres://u:hunter22@db:1/x", `unable to open state database "postgres://u:hunter22@db:1/x"`, `unable to open state database "postgres://u:***@db:1/x"`},
		"a password in another scheme":               {"s3://u:hunter22@bucket", "hunter22", "***"},
		"an encoded password":                        {"postgres://u:hunter%2F22@db/x", "hunter%2F22 hunter/22", "*** ***"},
		"a password that should be encoded":          {"postgres://u:hunter/22@db/x", "postgres://u:hunter/22@db/x", "postgres://u:***@db/x"},
		"a password with an at sign":                 {"postgres://u:hunt@er22@db/x", "postgres://u:hunt@er22@db/x", "postgres://u:***@db/x"},
		"a password with a question mark":            {"postgres://u:hunt?er22@db/x", "postgres://u:hunt?er22@db/x", "postgres://u:***@db/x"},
		"a parameter":                                {"postgres://db/x?user=bob&password=hunter22", "user=bob&password=hunter22", "user=bob&password=***"},
		"a token as user":                            {"https://token-1234@host", "https://token-1234@host", "https://***@host"},
		"a user is no secret":                        {"postgres://u@db/x", "u at db", "u at db"},
		"a password that is also in the public part": {"postgres://pulumi:pulumi@db/pulumi", "pulumi stack init", "pulumi stack init"},
		"no secret":                                  {"s3://bucket/dir?region=eu", "s3://bucket/dir?region=eu", "s3://bucket/dir?region=eu"},
		"no URL":                                     {"a:b@c", "a:b@c", "a:b@c"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(New(InURL(test.url)).Apply(test.text)).To(Equal(test.want))
		})
	}
}

func TestAShownURLHasItsQueryWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"s3://state/a/?region=eu&endpoint=http://minio:9000&s3ForcePathStyle=true": "s3://state/a?region=eu&endpoint=http://minio:9000&s3ForcePathStyle=true",
		"s3://key:canary@state?profile=x&awssdk=v2#canary":                         "s3://state?profile=x&awssdk=v2",
		"postgres://u:canary@db/x?sslmode=require&password=canary":                 "postgres://db/x?sslmode=require&password=[secret]",
		"azblob://state?storage_account=a&sv=1&sig=canary%2B":                      "azblob://state?storage_account=a&sv=1&sig=[secret]",
		"s3://state?endpoint=https://u:canary@minio&region=eu":                     "s3://state?endpoint=[secret]&region=eu",
		"s3://state?endpoint=https%3A%2F%2Fu%3Acanary%40minio":                     "s3://state?endpoint=[secret]",
		"s3://state?endpoint=u:canary@minio&region":                                "s3://state?endpoint=[secret]&region",
		"postgres://u:can?ary@db/x":                                                "",
		"file:///state":                                                            "file:///state",
	} {
		g := NewWithT(t)
		shown, ok := ShownURL(text)
		g.Expect(shown).NotTo(ContainSubstring("canary"))
		if ok {
			g.Expect(shown).To(Equal(want), text)
		}
	}
}
