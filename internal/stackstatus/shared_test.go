// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestIdentity(t *testing.T) {
	const cloud = "https://api.pulumi.com"
	refs := func(value string) map[string]v1.ResourceRef {
		return map[string]v1.ResourceRef{"AWS_ENDPOINT_URL": {Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: value}}}
	}
	stack := func(namespace, name, specBackend, backend string, edit ...func(*v1.StackSpec)) *v1.Stack {
		s := &v1.Stack{}
		s.Namespace, s.Spec.Stack, s.Spec.Backend = namespace, name, specBackend
		s.Status.ProjectInfo = &v1.ProjectInfo{Name: "app", Backend: backend}
		for _, change := range edit {
			change(&s.Spec)
		}
		return s
	}
	with := func(endpoint string) func(*v1.StackSpec) {
		return func(s *v1.StackSpec) { s.EnvRefs = refs(endpoint) }
	}
	secrets := func(s *v1.StackSpec) { s.EnvSecrets = []string{"aws"} }
	for name, test := range map[string]struct {
		a, b   *v1.Stack
		isSame bool
	}{
		"a bucket":                              {stack("a", "dev", "s3://b", "s3://b"), stack("b", "organization/app/dev", "s3://b", "s3://b"), true},
		"an endpoint of a variable":             {stack("a", "dev", "s3://b", "s3://b", with("here")), stack("a", "dev", "s3://b", "s3://b", with("there")), false},
		"the same endpoint of a variable":       {stack("a", "dev", "s3://b", "s3://b", with("here")), stack("a", "dev", "s3://b", "s3://b", with("here")), true},
		"a Secret of each namespace":            {stack("a", "dev", "s3://b", "s3://b", secrets), stack("b", "dev", "s3://b", "s3://b", secrets), false},
		"the same endpoint of the URL":          {stack("a", "dev", "s3://b?endpoint=x", "s3://b", secrets), stack("b", "dev", "s3://b?endpoint=x", "s3://b", secrets), true},
		"a storage account of each":             {stack("a", "dev", "azblob://b", "azblob://b", secrets), stack("b", "dev", "azblob://b", "azblob://b", secrets), false},
		"the same storage account":              {stack("a", "dev", "azblob://b?storage_account=x", "azblob://b", secrets), stack("b", "dev", "azblob://b?storage_account=x", "azblob://b", secrets), true},
		"a bucket of Google":                    {stack("a", "dev", "gs://b", "gs://b", secrets), stack("b", "dev", "gs://b", "gs://b", secrets), true},
		"a database":                            {stack("a", "dev", "postgres://db/p", "postgres://db/p", secrets), stack("b", "dev", "postgres://db/p", "postgres://db/p", secrets), true},
		"a URL of a Secret of each namespace":   {stack("a", "dev", "", "s3://b", secrets), stack("b", "dev", "", "s3://b", secrets), false},
		"a URL of the same Secret":              {stack("a", "dev", "", "s3://b", secrets), stack("a", "dev", "", "s3://b", secrets), true},
		"a URL of the program":                  {stack("a", "dev", "", "s3://b"), stack("b", "dev", "", "s3://b"), false},
		"files":                                 {stack("a", "dev", "", "file:///state", secrets), stack("b", "dev", "", "file:///state"), true},
		"an organization":                       {stack("a", "acme/app/dev", "", cloud, secrets), stack("b", "acme/dev", "", cloud), true},
		"another organization":                  {stack("a", "acme/app/dev", "", cloud), stack("b", "evil/app/dev", "", cloud), false},
		"the default organization of the token": {stack("a", "dev", "", cloud), stack("b", "dev", "", cloud), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			a, b := Identity(test.a), Identity(test.b)
			g.Expect(a != "" && a == b).To(Equal(test.isSame))
		})
	}
}
