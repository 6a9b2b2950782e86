// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// pages serves that many pods, at most the requested limit at a time.
type pages struct {
	client.Reader
	count int
	most  int
}

func (p *pages) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	from, _ := strconv.Atoi(asked.Continue)
	to := min(from+int(asked.Limit), p.count)
	p.most = max(p.most, to-from)
	for i := from; i < to; i++ {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i), Annotations: map[string]string{"large": "x"}}}
		list.(*corev1.PodList).Items = append(list.(*corev1.PodList).Items, pod)
	}
	if to < p.count {
		list.SetContinue(strconv.Itoa(to))
	}
	return nil
}

func TestObjectsAreListedInPages(t *testing.T) {
	for _, count := range []int{0, 1, pageSize, 3*pageSize + 1} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			g := NewWithT(t)
			from, pods := &pages{count: count}, &corev1.PodList{}
			g.Expect(paged{from}.List(t.Context(), pods)).To(Succeed())
			g.Expect(from.most).To(BeNumerically("<=", pageSize))
			g.Expect(pods.Items).To(HaveLen(count))
			for i, pod := range pods.Items {
				g.Expect(pod.Name).To(Equal(fmt.Sprintf("pod-%d", i)))
				g.Expect(pod.Annotations).To(BeEmpty(), "unused objects are not kept")
			}
		})
	}
}

func TestARunIsLookedUpByNameOnly(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	var listed []string
	empty := newCluster()
	next := s.next(func(o *Options) {
		o.Cache = cacheOf{Reader: empty, watched: &empty.watched}
		o.Reader = listing{s.api, &listed}
	})
	s.Expect(next.phase()).To(Equal(run.Running))
	kinds := strings.Join(listed, " ")
	for _, whole := range []client.ObjectList{&corev1.SecretList{}, &batchv1.JobList{}} {
		s.Expect(kinds).NotTo(ContainSubstring(fmt.Sprintf("%T", whole)))
	}
}

// listing records the lists.
type listing struct {
	client.Reader
	kinds *[]string
}

func (l listing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	*l.kinds = append(*l.kinds, fmt.Sprintf("%T", list))
	return l.Reader.List(ctx, list, options...)
}
