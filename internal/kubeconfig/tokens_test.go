// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/identity"
)

// audiences records for which audiences tokens were requested. Several tokens
// are renewed at the same time.
type audiences struct {
	*issuer
	mu    sync.Mutex
	asked []string
}

func (a *audiences) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func (a *audiences) ServiceAccounts(string) corev1client.ServiceAccountInterface { return a }

func (a *audiences) CreateToken(
	ctx context.Context, name string, request *authenticationv1.TokenRequest, options metav1.CreateOptions,
) (*authenticationv1.TokenRequest, error) {
	a.mu.Lock()
	a.asked = append(a.asked, request.Spec.Audiences...)
	a.mu.Unlock()
	return a.issuer.CreateToken(ctx, name, request, options)
}

func clouds() []identity.Token {
	return []identity.Token{{File: "aws-token", Audience: "sts.amazonaws.com"}, {File: "vault.token", Audience: "https://vault"}}
}

func TestEachTokenIsForItsAudienceUntilTheRunEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "identity")
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		tokens := &audiences{issuer: &issuer{}}
		accounts := accountsOf(tokens.issuer)
		accounts.tokens = tokens
		ctx, stop := context.WithCancel(t.Context())
		access, err := accounts.OpenTokens(ctx, dir, deployer, clouds(), ignore)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(access.Dir).To(Equal(dir))
		g.Expect(tokens.all()).To(Equal([]string{"sts.amazonaws.com", "https://vault"}))
		inFile := func(name string) string {
			synctest.Wait()
			info, err := os.Stat(filepath.Join(dir, name))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(info.Mode()).To(Equal(os.FileMode(0o600)))
			text, err := os.ReadFile(filepath.Join(dir, name))
			g.Expect(err).NotTo(HaveOccurred())
			return string(text)
		}
		g.Expect(inFile("aws-token")).To(Equal("deployer-token-1"))
		g.Expect(inFile("vault.token")).To(Equal("deployer-token-2"))

		stop() // the run is asked to stop, and continues
		time.Sleep(49 * time.Minute)
		renewed := []string{inFile("aws-token"), inFile("vault.token")}
		g.Expect(renewed).To(ConsistOf("deployer-token-3", "deployer-token-4"))
		g.Expect(tokens.all()).To(HaveLen(4))
		g.Expect(tokens.all()[2:]).To(ConsistOf("sts.amazonaws.com", "https://vault"))
		g.Expect(access.Tokens()).To(ConsistOf("deployer-token-1", "deployer-token-2", "deployer-token-3", "deployer-token-4"))

		access.Close()
		g.Expect(os.ReadDir(dir)).To(BeEmpty(), "no token outlives its run")
		time.Sleep(2 * time.Hour)
		g.Expect(tokens.all()).To(HaveLen(4))
	})
}

func TestWithoutOneOfItsTokensARunHasNone(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "identity")
	tokens := &refusing{audiences{issuer: &issuer{}}}
	accounts := accountsOf(tokens.issuer)
	accounts.tokens = tokens
	_, err := accounts.OpenTokens(t.Context(), dir, deployer, clouds(), ignore)
	g.Expect(err).To(MatchError(ContainSubstring("the controller is not allowed to create a token for service account 'apps/deployer'")))
	g.Expect(os.ReadDir(dir)).To(BeEmpty())
}

// refusing refuses a second token.
type refusing struct{ audiences }

func (r *refusing) ServiceAccounts(string) corev1client.ServiceAccountInterface { return r }

func (r *refusing) CreateToken(
	ctx context.Context, name string, request *authenticationv1.TokenRequest, options metav1.CreateOptions,
) (*authenticationv1.TokenRequest, error) {
	if len(r.all()) > 0 {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "serviceaccounts"}, name, errors.New("no"))
	}
	return r.audiences.CreateToken(ctx, name, request, options)
}
