// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
)

// TestTheStateIsInAnS3CompatibleStore follows the page. The second run finds what the first has made only by its state.
func TestTheStateIsInAnS3CompatibleStore(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.Expect(u.s3.MakeBucket(u.ctx, u.namespace)).To(Succeed())
	blocks := u.pageOf("spec/v1/stacks.md").fenced("S3-compatible stores", "yaml")
	u.Expect(blocks).To(HaveLen(1))
	here := strings.NewReplacer("s3://pulumi-state?", "s3://"+u.namespace+"?", "minio.minio.svc.cluster.local:9000", u.s3.Endpoint())
	objects, err := manifests.Unit{Text: here.Replace(blocks[0])}.Objects()
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(objects).To(HaveLen(2))
	keys, stack := &corev1.Secret{}, &v1.Stack{}
	u.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(objects[0].Object, keys)).To(Succeed())
	u.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(objects[1].Object, stack)).To(Succeed())
	u.Expect(keys.StringData).To(HaveLen(3))
	keys.StringData["AWS_ACCESS_KEY_ID"], keys.StringData["AWS_SECRET_ACCESS_KEY"] = u.s3.Credentials()["accesskey"], u.s3.Credentials()["secretkey"]
	u.apply(keys)
	program := u.program(oneThing("one"))
	program.Name = stack.Spec.ProgramRef.Name
	u.apply(program)
	stack.Spec.Config = u.stack().Spec.Config
	u.apply(stack)
	u.awaitReady(stack)

	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two")) })
	u.awaitReady(stack, programEdited(program))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "two"}))
	u.Expect(u.cloud.Created("a")).To(Equal(1))
}
