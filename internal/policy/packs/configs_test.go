// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package packs_test

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy/packs"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// counted counts what is read.
type counted struct {
	client.Reader
	reads int
}

func (c *counted) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	c.reads++
	return c.Reader.Get(ctx, key, object, options...)
}

type oneSource struct{}

func (oneSource) Resolve(context.Context, string, v1.SourceReference) (*source.Source, error) {
	return &source.Source{Digest: "sha256:1"}, nil
}

func TestTheConfigOfAPackIsReadOnceUntilItChanges(t *testing.T) {
	g := NewWithT(t)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config", Namespace: "platform"}, Data: map[string]string{"policies": "tags: advisory"}}
	cluster, unwatched := fake.NewClientBuilder().WithObjects(config).Build(), fake.NewClientBuilder().Build()
	api := &counted{Reader: cluster}
	set := &v1.PolicySet{}
	pack := &v1.PolicyPack{ConfigFrom: &v1.PolicyConfigReference{ConfigMap: v1.PolicyConfigMapReference{Name: "config", Namespace: "platform", Key: "policies"}}}
	resolver := packs.Resolver{Sources: oneSource{}, ConfigMaps: api, Configs: packs.NewConfigs(cluster)}
	read := func() string {
		resolved, err := resolver.Pack(t.Context(), set, pack)
		g.Expect(err).NotTo(HaveOccurred())
		return string(resolved.Config)
	}
	for range 3 {
		g.Expect(read()).To(ContainSubstring("advisory"))
	}
	g.Expect(api.reads).To(Equal(1))

	config.Data["policies"] = "tags: mandatory"
	g.Expect(cluster.Update(t.Context(), config)).To(Succeed())
	for range 3 {
		g.Expect(read()).To(ContainSubstring("mandatory"))
	}
	g.Expect(api.reads).To(Equal(2))

	config.Data["policies"] = "tags: disabled #" + strings.Repeat("-", 64<<10)
	g.Expect(cluster.Update(t.Context(), config)).To(Succeed())
	for range 2 {
		g.Expect(read()).To(ContainSubstring("disabled"))
	}
	g.Expect(api.reads).To(Equal(4), "it is too large to be kept")

	g.Expect(cluster.Delete(t.Context(), config)).To(Succeed())
	_, err := resolver.Pack(t.Context(), set, pack)
	g.Expect(err).To(MatchError(ContainSubstring("not found")))

	config.ResourceVersion = ""
	config.Data["policies"] = "tags: advisory"
	g.Expect(cluster.Create(t.Context(), config)).To(Succeed())
	resolver.Configs, api.reads = packs.NewConfigs(unwatched), 0
	for range 2 {
		g.Expect(read()).To(ContainSubstring("advisory"))
	}
	g.Expect(api.reads).To(Equal(2), "nothing says when it changes")
}
