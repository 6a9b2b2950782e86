// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// The dependencies of a program in JavaScript are installed by the real npm, and kept on a claim by the container beside
// that of the run. The program, and the script of its package, try to write there too.
func TestDependenciesAreKeptOnAVolume(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	const tamper = `
const fs = require("fs"), dir = process.env.DEPENDENCIES;
try { fs.writeFileSync(dir + "/" + process.env.npm_lifecycle_event, ""); console.error("wrote to the volume"); }
catch (error) { console.error("the volume refused: " + error.code); }
`
	repo, err := u.git.NewRepo(u.ctx, u.namespace)
	u.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(u.ctx, sources.Files{
		"Pulumi.yaml":  "name: app\nruntime: nodejs\n",
		"package.json": `{"name": "app", "dependencies": {"@pulumi/pulumi": "file:sdk.tgz"}}`,
		"index.js":     "",
		"sdk.tgz": packed(u, map[string]string{
			"package.json":     `{"name": "@pulumi/pulumi", "version": "3.0.0", "scripts": {"postinstall": "node tamper.js"}}`,
			"cmd/run/index.js": tamper,
			"tamper.js":        tamper,
		}),
	}, "a program")
	u.Expect(err).NotTo(HaveOccurred())
	source := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: u.namespace},
		Spec: sourcev1.GitRepositorySpec{URL: repo.URL(), Interval: metav1.Duration{Duration: time.Minute},
			Reference: &sourcev1.GitRepositoryRef{Branch: sources.Branch}},
	}
	u.Expect(u.Client().Create(u.ctx, source)).To(Succeed())
	volume := u.kubelet.Claim(u.namespace, "dependencies")
	first := u.stack("app", func(s *v1.Stack) {
		s.Spec.ProgramRef, s.Spec.Config = nil, map[string]apiextensionsv1.JSON{"app:value": {Raw: []byte(`"one"`)}}
		s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{APIVersion: sourcev1.GroupVersion.String(), Kind: "GitRepository", Name: "app"}}
		s.Spec.WorkspaceTemplate = u.podWith(map[string]any{"image": nodeImage, "env": []map[string]any{{"name": "DEPENDENCIES", "value": "/pulumi-dependencies"}}},
			map[string]any{
				"volumes": []map[string]any{
					{"name": "backend", "hostPath": map[string]any{"path": u.backend}},
					{"name": "dependencies", "persistentVolumeClaim": map[string]any{"claimName": "dependencies"}},
				},
				"containers": []map[string]any{{"name": "pulumi", "volumeMounts": []map[string]any{
					{"name": "backend", "mountPath": u.backend}, {"name": "dependencies", "mountPath": "/pulumi-dependencies"},
				}}},
			})
	})
	u.await(first, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.IsReady(s)).To(BeTrue(), conditions.GetMessage(s, meta.ReadyCondition))
	})
	u.Expect(u.logs()).To(And(ContainSubstring("installed the dependencies of the program in"), ContainSubstring("the volume refused: EROFS"),
		Not(ContainSubstring("wrote to the volume"))))
	var namespace corev1.Namespace
	u.Expect(u.Get(u.ctx, client.ObjectKey{Name: u.namespace}, &namespace)).To(Succeed())
	kept, err := filepath.Glob(filepath.Join(volume, u.namespace+"."+string(namespace.UID), "*"))
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(kept).To(HaveLen(1))

	edit(u, first, func(s *v1.Stack) { s.Spec.Config["app:value"] = apiextensionsv1.JSON{Raw: []byte(`"two"`)} })
	u.await(first, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.IsReady(s)).To(BeTrue(), conditions.GetMessage(s, meta.ReadyCondition))
		g.Expect(u.jobs()).To(HaveLen(2))
	})
	u.Expect(u.logs()).To(ContainSubstring("copied the dependencies of the program from a snapshot in"))
	u.Eventually(u.jobs).Should(HaveEach(HaveField("Status.Succeeded", BeEquivalentTo(1))), "the container beside that of the run ends, too")
	u.Expect(os.ReadDir(volume)).To(HaveLen(2), "of the namespace and of the locks: nothing else was written")
}

// logs are those of all pods.
func (t *team) logs() string {
	t.test.Helper()
	var pods corev1.PodList
	t.Expect(t.List(t.ctx, &pods, client.InNamespace(t.namespace))).To(Succeed())
	var all bytes.Buffer
	for _, pod := range pods.Items {
		text, err := os.ReadFile(t.kubelet.Log(string(pod.UID)))
		t.Expect(err).NotTo(HaveOccurred())
		all.Write(text)
	}
	return all.String()
}

// packed is a package as npm packs it.
func packed(t *team, files map[string]string) string {
	t.test.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for name, text := range files {
		t.Expect(w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})).To(Succeed())
		_, err := w.Write([]byte(text))
		t.Expect(err).NotTo(HaveOccurred())
	}
	t.Expect(w.Close()).To(Succeed())
	t.Expect(compressed.Close()).To(Succeed())
	return out.String()
}
