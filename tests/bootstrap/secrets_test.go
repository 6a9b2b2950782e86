// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// addSecrets follows "Secrets in git, with SOPS" of docs/guides/secrets.md. The key and the encrypted Secret in testdata are
// what its commands wrote with age 1.3.2 and sops 3.12.1: those take minutes to build, and nothing else needs them.
func (c *cluster) addSecrets() {
	c.test.Helper()
	key := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "sops-age", Namespace: fluxSystem},
		Data:       map[string][]byte{"age.agekey": []byte(c.secretsFile("age.agekey"))},
	}
	c.Expect(c.Create(c.ctx, key)).To(Succeed())
	revision := c.commit(sources.Files{
		"secrets/production/network.yaml":  c.secretsFile("network.yaml"),
		"clusters/production/secrets.yaml": c.blockOfSecrets("decryption:"),
	})
	c.reconcile(revision)
	c.awaitApplied("secrets", revision)

	saved := c.objectsOf(c.blockOfSecrets("kind: Secret\n"))[0]
	values, ok := saved.Object["stringData"].(map[string]any)
	c.Expect(ok).To(BeTrue())
	c.Expect(values).NotTo(BeEmpty())
	var decrypted corev1.Secret
	c.Expect(c.Get(c.ctx, client.ObjectKeyFromObject(saved), &decrypted)).To(Succeed())
	c.Expect(decrypted.Data).To(HaveLen(len(values)))
	for name, value := range values {
		c.Expect(decrypted.Data).To(HaveKeyWithValue(name, BeEquivalentTo(value)))
	}
}

func (c *cluster) secretsFile(name string) string {
	c.test.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "secrets", name))
	c.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// blockOfSecrets returns the only block of YAML of the guide to secrets that has the text.
func (c *cluster) blockOfSecrets(having string) string {
	c.test.Helper()
	text, err := page("guides/secrets.md")
	c.Expect(err).NotTo(HaveOccurred())
	var found []string
	for _, block := range manifests.FencedBlocks("secrets", text) {
		if strings.Contains(block.Text, having) {
			found = append(found, block.Text)
		}
	}
	c.Expect(found).To(HaveLen(1), having)
	return found[0]
}
