// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTokensThatThePodMountsAreUsedWhereTheyAre(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	mounted := &Mounted{IdentityDir: dir, TokenFile: filepath.Join(dir, "none")}
	_, err := mounted.OpenTokens(t.Context(), "/unused", deployer, clouds(), ignore)
	g.Expect(err).To(MatchError(ContainSubstring("no token of service account 'apps/deployer' for audience sts.amazonaws.com")))

	for _, token := range clouds() {
		g.Expect(os.WriteFile(filepath.Join(dir, token.File), []byte(token.File+"-1\n"), 0o600)).To(Succeed())
	}
	access, err := mounted.OpenTokens(t.Context(), "/unused", deployer, clouds(), ignore)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(access.Dir).To(Equal(dir))
	g.Expect(access.Tokens()).To(Equal([]string{"aws-token-1", "vault.token-1"}))
	g.Expect(os.WriteFile(filepath.Join(dir, "aws-token"), []byte("aws-token-2"), 0o600)).To(Succeed())
	g.Expect(access.Tokens()).To(Equal([]string{"aws-token-1", "aws-token-2", "vault.token-1"}), "both may be valid")
	access.Close()
	g.Expect(mounted.Tokens()).To(BeEmpty(), "those are of the API server")
}
