// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// tokens are the signatures of the tokens that the pods of the team had for clouds.
func (t *team) tokens() []string {
	t.test.Helper()
	var signatures []string
	for _, token := range t.kubelet.Tokens(t.namespace) {
		signatures = append(signatures, token[strings.LastIndexByte(token, '.')+1:])
	}
	t.Expect(signatures).NotTo(BeEmpty())
	return signatures
}

// expectNoToken looks for the tokens everywhere, and for the volumes that they were in.
func (t *team) expectNoToken() {
	t.test.Helper()
	t.expectNotShown(t.tokens())
	t.Expect(filesWith(t.dir, t.tokens()...)).To(BeEmpty(), "the backend")
}

// expectNotShown looks for the texts where people see what happened, and expects that nothing of the pods is left.
func (t *team) expectNotShown(texts []string) {
	t.test.Helper()
	var pods corev1.PodList
	t.Expect(t.List(t.ctx, &pods, client.InNamespace(t.namespace))).To(Succeed())
	for _, pod := range pods.Items {
		t.Eventually(t.kubelet.Volumes(string(pod.UID))).ShouldNot(BeADirectory(), "the volumes of pod %s", pod.Name)
		t.expectNoneIn("the log of a pod", contentOf(t.kubelet.Log(string(pod.UID))), texts)
	}
	for _, list := range []client.ObjectList{
		&corev1.PodList{}, &batchv1.JobList{}, &corev1.SecretList{}, &corev1.ConfigMapList{}, &corev1.EventList{}, &v1.StackList{}, &v1.ProgramList{},
	} {
		t.Expect(t.List(t.ctx, list, client.InNamespace(t.namespace))).To(Succeed())
		text, err := json.Marshal(list)
		t.Expect(err).NotTo(HaveOccurred())
		t.expectNoneIn("an object", string(text), texts)
		if secrets, ok := list.(*corev1.SecretList); ok {
			for _, secret := range secrets.Items {
				for key, value := range secret.Data {
					t.expectNoneIn(secret.Name+" "+key, string(value), texts)
				}
			}
		}
	}
	response, err := http.Get(t.MetricsURL())
	t.Expect(err).NotTo(HaveOccurred())
	metrics, err := io.ReadAll(response.Body)
	t.Expect(response.Body.Close()).To(Succeed())
	t.Expect(err).NotTo(HaveOccurred())
	t.expectNoneIn("the metrics", string(metrics), texts)
	t.expectNoneIn("the log of the controller", contentOf(t.ControllerLog()), texts)
	t.Expect(filesWith(t.DataDir(), texts...)).To(BeEmpty(), "the data of the controller")
}

// expectNoneIn does not quote what it looks in.
func (t *team) expectNoneIn(where, text string, texts []string) {
	t.test.Helper()
	t.Expect(contains(text, texts)).To(BeFalse(), "a token is in %s", where)
}

func contains(text string, texts []string) bool {
	return slices.ContainsFunc(texts, func(one string) bool { return strings.Contains(text, one) })
}

// contentOf returns what is in a file, or "" if there is none.
func contentOf(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// filesWith lists the files under dir that have one of the texts in them. Others may be removed meanwhile.
func filesWith(dir string, texts ...string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil
		case err != nil:
			return err
		case entry.Type().IsRegular() && contains(contentOf(path), texts):
			found = append(found, path)
		}
		return nil
	})
	return found, err
}

// processesWith lists the processes of this machine that have one of the texts in their arguments or environment.
func processesWith(texts ...string) ([]string, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, path := range paths {
		if dir := filepath.Dir(path); contains(contentOf(path), texts) || contains(contentOf(filepath.Join(dir, "environ")), texts) {
			found = append(found, dir)
		}
	}
	return found, nil
}
