// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

func TestCreateExports(t *testing.T) {
	w := newWorld(t, "create-export")
	w.env.In = strings.NewReader("name: words\nruntime: yaml\noutputs:\n  word: hello\n")
	w.golden("create_export",
		"create stack words --stack dev --program words --export",
		"create stack network --stack organization/network/dev --source gitrepository/infra.apps.flux-system --path ./network"+
			" --backend s3://acme-pulumi-state --interval 5m --retry-interval 1m --run-timeout 15m --service-account network --outputs-secret network"+
			" --secrets-provider passphrase --destroy-on-delete --refresh --preview --existing-stack --config zones=3 --config aws:region=eu-west-1"+
			" --secret-config token=network/token --env LOG=debug --secret-env PULUMI_CONFIG_PASSPHRASE=network/passphrase"+
			" --depends-on base,other/dns --label tier=base --export",
		"create program words --from-file - --export",
	)
}

func TestCreateRefuses(t *testing.T) {
	w := newWorld(t, "create-refuses")
	w.golden("create_refuses",
		"create stack",
		"create stack Not_A_Name",
		"create stack a",
		"create stack a --stack dev",
		"create stack a --stack dev --program a --source GitRepository/a",
		"create stack a --stack dev --source HelmChart/a",
		"create stack a --stack dev --source GitRepository",
		"create stack a --stack dev --program a --path b",
		"create stack a --stack dev --program a --config b",
		"create stack a --stack dev --program a --secret-env TOKEN=hunter2",
		"create stack a --stack dev --program a --secret-env hunter2",
		"create stack a --stack dev --program a --label b",
		"create stack a --stack dev --program a --depends-on a/b/c",
		"create stack a --stack dev --program a --depends-on b,b",
		"create stack a --stack dev --program a --config b=1 --config b=2",
		"create stack a --stack dev --program a --config b=1 --secret-config b=c/d",
		"create stack a --stack dev --program a --env B=1 --env C=2 --secret-env C=c/d",
		"create stack a --stack dev --program a --secret-env TOKEN=c/d --secret-env TOKEN=hunter2/d",
		"create stack a --stack dev --program a --label b=1,b=2",
		"create stack a --stack dev --program a --label /b=1 --export",
		"create stack a --stack dev --program a --label b=c=d --export",
		"create stack a --stack a/b/c/d/e --program a",
		"create program a",
		"create program a --from-file testdata/absent.yaml",
		"create program a --from-file testdata/nodejs.yaml",
		"create program a --from-file testdata/events.yaml",
	)
}

func TestCreateAndUpdate(t *testing.T) {
	w := newWorld(t, "create")
	created := func(object *unstructured.Unstructured) bool { return object.GetGeneration() == 1 }
	updated := func(object *unstructured.Unstructured) bool { return object.GetGeneration() == 2 }
	stack := cluster.Stack().GroupVersionKind
	w.play(stack, "words", created, inFlight, succeeded)
	w.golden("create", "create stack words --stack dev --program words")
	w.play(stack, "words", updated, inFlight, failed)
	w.golden("create_update", "create stack words --stack dev --program words --config length=3", "export stack words")
	NewWithT(t).Expect(w.api.Delete(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "pulumi.com/v1", "kind": "Stack", "metadata": map[string]any{"namespace": w.namespace, "name": "words"},
	}})).To(Succeed())
}

func TestCreateDoesNotChangeAStackInDeletion(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "create-deleted")
	w.apply("steered")
	stack := w.network()
	stack.Finalizers, stack.Spec.DestroyOnFinalize = []string{v1.StackFinalizer}, true
	g.Expect(w.api.Update(t.Context(), stack)).To(Succeed())
	g.Expect(w.api.Delete(t.Context(), stack)).To(Succeed())
	t.Cleanup(func() {
		release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		g.Expect(w.api.Patch(context.Background(), stack, release)).To(Succeed())
	})
	done := w.run("create stack network --stack dev --program network")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(ContainSubstring("✗ Stack network is being deleted and was not changed"))
	g.Expect(w.network().Spec.DestroyOnFinalize).To(BeTrue())
}

func TestCreateRetriesOnAConflictWithTheController(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "create-conflict")
	w.apply("steered")
	conflicts := 1
	api := interceptor.NewClient(w.api, interceptor.Funcs{
		Update: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if conflicts--; conflicts >= 0 {
				other := w.network()
				other.Labels = map[string]string{"other": "one"}
				g.Expect(w.api.Update(ctx, other)).To(Succeed())
			}
			return api.Update(ctx, object, options...)
		},
	})
	wanted := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"stack": w.network().Spec.Stack, "programRef": map[string]any{"name": "b"}}}}
	done, err := upsert(t.Context(), api, stackTarget(w.network()), wanted, "spec")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done).To(Equal("updated"))
	g.Expect(w.network().Spec.ProgramRef.Name).To(Equal("b"))
	g.Expect(w.network().Labels).To(HaveKeyWithValue("other", "one"))
}
