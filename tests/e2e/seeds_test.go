// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The programs of the documents that this project started from, verbatim, with stand-ins for the aws providers.

func TestTheEC2InstanceOf2023RunsAsItWasPrinted(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.bring("seeds/ec2-instance.yaml", u.nowhere)["dev-ec2-instance"]
	u.awaitReady(stack)

	made := u.standIns()
	u.Expect(made).To(HaveLen(2))
	u.Expect(made["group"].Type).To(Equal("aws:ec2/securityGroup:SecurityGroup"))
	u.Expect(made["group"].Inputs).To(Equal(map[string]any{
		"description": "Enable HTTP access",
		"ingress": []any{map[string]any{
			"protocol": "tcp", "fromPort": 80.0, "toPort": 80.0, "cidrBlocks": []any{"0.0.0.0/0"},
		}},
	}))
	u.Expect(made["server"].Type).To(Equal("aws:ec2/instance:Instance"))
	u.Expect(made["server"].Inputs).To(Equal(map[string]any{
		"ami": "ami-6869aa05", "instanceType": "t2.micro", "vpcSecurityGroupIds": "group-" + made["group"].ID,
	}))
	u.Expect(u.textOf(stack, "publicIp")).To(Equal("203.0.113.7"))
	u.Expect(u.textOf(stack, "publicDns")).To(ContainSubstring(".us-east-1."), "the region of the Stack's config")

	u.destroyedWith(stack, "ec2-instance")
	u.Expect(u.standIns()).To(BeEmpty())
}

func TestTheStaticWebsiteOf2022RunsAsItWasPrinted(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.bring("seeds/staticwebsite.yaml", u.nowhere)["staticwebsite"]
	u.awaitReady(stack)

	made := u.standIns()
	u.Expect(made).To(HaveLen(2))
	u.Expect(made["bucket"].Inputs).To(Equal(map[string]any{"website": map[string]any{"indexDocument": "index.html"}}))
	u.Expect(made["index.html"].Inputs).To(Equal(map[string]any{
		"bucket": made["bucket"].ID, "content": "<h1>Hello, world!</h1>", "contentType": "text/html", "acl": "public-read",
	}))
	u.Expect(u.textOf(stack, "url")).To(Equal("http://" + made["bucket"].ID + ".s3-website-us-east-1.amazonaws.com"))

	// "Updating the Program resource will immediately drive an update to the associated Pulumi Stack."
	program := &v1.Program{}
	program.Name, program.Namespace = "staticwebsite", u.namespace
	edit(u, program, func(p *v1.Program) {
		properties := p.Program.Resources["index.html"].Properties
		properties.Raw = bytes.Replace(properties.Raw, []byte("Hello, world!"), []byte("Hello again"), 1)
	})
	u.awaitReady(stack, programEdited(program))
	u.Expect(u.standIns()["index.html"].Inputs).To(HaveKeyWithValue("content", "<h1>Hello again</h1>"))
	u.Expect(u.standIns()["bucket"]).To(Equal(made["bucket"]), "the rest is let be")

	u.destroyedWith(stack, "staticwebsite")
	u.Expect(u.standIns()).To(BeEmpty())
}

// website is a program for the sources of the documents, whose own is in TypeScript.
const website = `resources:
  bucket:
    type: aws:s3:Bucket
outputs:
  bucket: ${bucket.bucket}
`

func TestTheGitRepositoryOf2022IsFollowed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	repo := u.repo("pkodev", in("basic", project("pkodev", website)))
	stack := u.bring("seeds/pkodev-gitrepository.yaml", u.following(repo))["pkodev"]
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "bucket")).To(Equal(u.standIns()["bucket"].ID))
	u.destroyedWith(stack, "pkodev")
	u.Expect(u.standIns()).To(BeEmpty())
}

func TestTheBucketOf2022IsFollowed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	served := u.bucket()
	u.Expect(u.s3.PutObjects(u.ctx, u.namespace, in("basic", project("pkodev", website)))).To(Succeed())
	stack := u.bring("seeds/pkodev-bucket.yaml", func(object *unstructured.Unstructured) {
		u.Expect(object.GetKind()).To(Equal(sourcev1.BucketKind))
		for field, value := range map[string]any{
			"provider": served.Spec.Provider, "endpoint": served.Spec.Endpoint, "region": served.Spec.Region,
			"bucketName": served.Spec.BucketName, "insecure": true, "secretRef": map[string]any{"name": served.Spec.SecretRef.Name},
		} {
			u.Expect(unstructured.SetNestedField(object.Object, value, "spec", field)).To(Succeed())
		}
	})["pkodev"]
	u.awaitReady(stack)
	u.Expect(u.standIns()).To(HaveKey("bucket"))
	u.destroyedWith(stack, "pkodev")
	u.Expect(u.standIns()).To(BeEmpty())
}

func TestTheStackOfTheOperatorsFluxPageRuns(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.gitRepo()
	_, err := source.repo.Commit(u.ctx, in("app", project("app", website)), "first")
	u.Expect(err).NotTo(HaveOccurred())
	source.object.Name = "app-source"
	u.apply(source.object)
	stack := u.bring("seeds/stack-from-source.yaml", u.nowhere)["stack-from-source"]
	u.awaitReady(stack)
	u.Expect(u.standIns()).To(HaveKey("bucket"))
}
