// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestStackNames(t *testing.T) {
	for name, test := range map[string]struct {
		text, backend, project string
		want, wantErr          string
	}{
		"a short name gets the organization and the project on a file backend": {
			text: "dev", backend: "file:///state", project: "demo", want: "organization/demo/dev",
		},
		"an s3 backend is one without accounts": {
			text: "dev", backend: "s3://bucket?region=x", project: "demo", want: "organization/demo/dev",
		},
		"a postgres backend is one without accounts": {
			text: "organization/dev", backend: "postgres://host/db", project: "demo", want: "organization/demo/dev",
		},
		"a full name is kept": {
			text: "organization/demo/dev", backend: "gs://bucket", project: "demo", want: "organization/demo/dev",
		},
		"an organization is refused by a backend without accounts": {
			text: "acme/dev", backend: "azblob://container", project: "demo",
			wantErr: "the organization must be 'organization'",
		},
		"Pulumi Cloud knows the default organization": {
			text: "dev", backend: "https://api.pulumi.com", project: "demo", want: "dev",
		},
		"the project is put between on Pulumi Cloud": {
			text: "acme/dev", backend: "https://api.pulumi.com", project: "demo", want: "acme/demo/dev",
		},
		"another project than the program's is refused": {
			text: "acme/other/dev", backend: "https://api.pulumi.com", project: "demo",
			wantErr: `belongs to the project "other", but the program is the project "demo"`,
		},
		"an empty name is refused":          {text: "", wantErr: "a stack name may not be empty"},
		"an empty organization is refused":  {text: "/dev", wantErr: "an organization name may only contain"},
		"an empty project is refused":       {text: "a//dev", wantErr: "project names may not be empty"},
		"a blank is refused by its place":   {text: "d ev", wantErr: "invalid character ' ' at position 1"},
		"dots are no name":                  {text: "..", wantErr: "the names . and .. are not allowed"},
		"a dot is none either":              {text: "organization/demo/.", wantErr: "the names . and .. are not allowed"},
		"dots are no project":               {text: "organization/../dev", wantErr: "the names . and .. are not allowed"},
		"dots are no organization":          {text: "../dev", wantErr: "the names . and .. are not allowed"},
		"dots are no project of a program":  {text: "dev", backend: "file:///state", project: "..", wantErr: "a project cannot be named . or .."},
		"dots may be in a name":             {text: "..dev.", backend: "file:///state", project: ".demo", want: "organization/.demo/..dev."},
		"a name of four parts is refused":   {text: "a/b/c/d", wantErr: "has 4 parts"},
		"a name of 101 letters is too long": {text: strings.Repeat("a", 101), wantErr: "cannot exceed 100"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			parsed, err := ParseStackName(test.text)
			got := ""
			if err == nil {
				g.Expect(parsed.String()).To(Equal(test.text))
				got, err = parsed.Qualify(test.backend, test.project)
			}
			if test.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wantErr)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(test.want))
		})
	}
}

func FuzzParseStackName(f *testing.F) {
	for _, seed := range []string{"dev", "a/b", "a/b/c", "a/b/c/d", "/", "", "-x", "a/../b", "ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := ParseStackName(text)
		if err != nil {
			return
		}
		if name.String() != text {
			t.Errorf("%q became %q", text, name)
		}
		// The name becomes part of a file name.
		if strings.ContainsAny(name.Stack, "/\\\x00") {
			t.Errorf("%q has a stack part that is a path", text)
		}
	})
}
