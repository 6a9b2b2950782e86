// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// issuer issues tokens like the API server. The real one issues none that expire within
// ten minutes, so renewal is tested with a fake clock.
type issuer struct {
	corev1client.ServiceAccountInterface
	life time.Duration

	mu     sync.Mutex
	err    error
	issued []time.Time
}

func (i *issuer) ServiceAccounts(string) corev1client.ServiceAccountInterface { return i }

func (i *issuer) CreateToken(
	_ context.Context, name string, request *authenticationv1.TokenRequest, _ metav1.CreateOptions,
) (*authenticationv1.TokenRequest, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil {
		return nil, i.err
	}
	i.issued = append(i.issued, time.Now())
	life := i.life
	if life == 0 {
		life = time.Duration(*request.Spec.ExpirationSeconds) * time.Second
	}
	return &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{
		Token: fmt.Sprintf("%s-token-%d", name, len(i.issued)), ExpirationTimestamp: metav1.NewTime(time.Now().Add(life)),
	}}, nil
}

func (i *issuer) fail(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.err = err
}

// times lists when tokens were issued, relative to the first.
func (i *issuer) times() []time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	var since []time.Duration
	for _, at := range i.issued {
		since = append(since, at.Sub(i.issued[0]))
	}
	return since
}

var deployer = run.ServiceAccount{Namespace: "apps", Name: "deployer"}

func accountsOf(tokens *issuer) *Accounts {
	return &Accounts{tokens: tokens, config: &rest.Config{
		Host: "https://10.0.0.1:443", BearerToken: "the-controllers-own", Username: "admin", Password: "the-controllers-password",
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte("an authority"), KeyData: []byte("the-controllers-key"), CertData: []byte("its certificate")},
	}}
}

func ignore(string) {}

func TestAKubeconfigHasTheRightsOfTheAccountAndNoOthers(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), ".kube")
	access, err := accountsOf(&issuer{}).Open(t.Context(), dir, deployer, ignore)
	g.Expect(err).NotTo(HaveOccurred())
	defer access.Close()
	path := filepath.Join(dir, "config")
	g.Expect(access.Tokens()).To(Equal([]string{"deployer-token-1"}))

	text, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(ContainSubstring("the-controllers"))
	g.Expect(string(text)).NotTo(ContainSubstring("deployer-token"), "the token is in a file of its own, which clients read again")
	config, err := clientcmd.BuildConfigFromFlags("", path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Host).To(Equal("https://10.0.0.1:443"))
	g.Expect(config.CAData).To(Equal([]byte("an authority")))
	g.Expect(config.BearerTokenFile).To(Equal(filepath.Join(dir, "token")))
	g.Expect(config.BearerToken).To(Equal("deployer-token-1"))
	loaded, err := clientcmd.LoadFromFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(loaded.Contexts[loaded.CurrentContext].Namespace).To(Equal("apps"))

	entries, err := os.ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(2))
	for _, entry := range entries {
		info, err := entry.Info()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode()).To(Equal(os.FileMode(0o600)), entry.Name())
	}
	info, err := os.Stat(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o700)))
}

func TestTheCAFileIsEmbeddedInTheKubeconfig(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	g.Expect(os.WriteFile(file, []byte("an authority of a file"), 0o600)).To(Succeed())
	text, err := kubeconfig(&rest.Config{Host: "10.0.0.1", TLSClientConfig: rest.TLSClientConfig{CAFile: file}}, "apps", file)
	g.Expect(err).NotTo(HaveOccurred())
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Host).To(Equal("https://10.0.0.1"))
	g.Expect(config.CAData).To(Equal([]byte("an authority of a file")))

	_, err = kubeconfig(&rest.Config{Host: "10.0.0.1", TLSClientConfig: rest.TLSClientConfig{CAFile: file + "x"}}, "apps", "/token")
	g.Expect(err).To(MatchError(ContainSubstring("reading the CA certificate of the API server")))
}

func TestAFailedTokenRequestIsExplained(t *testing.T) {
	resource := schema.GroupResource{Resource: "serviceaccounts"}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no such account": {apierrors.NewNotFound(resource, "deployer"),
			"service account 'apps/deployer' not found: create it, or name another in spec.serviceAccountName"},
		"no right to": {apierrors.NewForbidden(resource, "deployer", errors.New("no")),
			"the controller is not allowed to create a token for service account 'apps/deployer': allow it to create serviceaccounts/token"},
		"anything else": {errors.New("connection refused"), "creating a token for service account 'apps/deployer': connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := filepath.Join(t.TempDir(), ".kube")
			accounts := accountsOf(&issuer{err: test.err})
			_, err := accounts.Open(t.Context(), dir, deployer, ignore)
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			g.Expect(accounts.Check(t.Context(), deployer)).To(MatchError(err.Error()), "and it is so before a run")
			g.Expect(dir).NotTo(BeAnExistingFile(), "what has no rights has no kubeconfig")
		})
	}
}

func TestATokenIsRenewedDuringARun(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		tokens := &issuer{}
		ctx, stop := context.WithCancel(t.Context())
		access, err := accountsOf(tokens).Open(ctx, dir, deployer, ignore)
		g.Expect(err).NotTo(HaveOccurred())
		inFile := func() string {
			synctest.Wait()
			text, err := os.ReadFile(filepath.Join(dir, "token"))
			g.Expect(err).NotTo(HaveOccurred())
			return string(text)
		}
		time.Sleep(47 * time.Minute)
		g.Expect(inFile()).To(Equal("deployer-token-1"))
		time.Sleep(2 * time.Minute)
		g.Expect(inFile()).To(Equal("deployer-token-2"))
		g.Expect(access.Tokens()).To(Equal([]string{"deployer-token-1", "deployer-token-2"}), "the first is still valid")

		stop() // the run is asked to stop, and continues
		time.Sleep(49 * time.Minute)
		g.Expect(inFile()).To(Equal("deployer-token-3"))

		time.Sleep(24 * time.Hour)
		g.Expect(inFile()).To(HavePrefix("deployer-token-3"), "the 33rd or so")
		g.Expect(len(access.Tokens())).To(BeNumerically("<=", 4), "what has expired for long is dropped")

		access.Close()
		last := len(tokens.times())
		time.Sleep(2 * time.Hour)
		g.Expect(tokens.times()).To(HaveLen(last), "renewal ends with the run")
	})
}

func TestARenewalThatFailsIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		tokens := &issuer{life: 10 * time.Minute}
		lines := make(chan string, 100)
		access, err := accountsOf(tokens).Open(t.Context(), dir, deployer, func(line string) { lines <- line })
		g.Expect(err).NotTo(HaveOccurred())
		tokens.fail(errors.New("the API server is away"))
		time.Sleep(8*time.Minute + 20*time.Second)
		synctest.Wait()
		g.Expect(lines).To(HaveLen(3), "at 8m0s, 8m5s and 8m15s")
		g.Expect(<-lines).To(Equal("failed to renew the token of service account 'apps/deployer': the API server is away"))

		time.Sleep(10 * time.Minute)
		synctest.Wait()
		g.Expect(len(lines)).To(BeNumerically("<", 20), "no more than one a minute in the end")
		tokens.fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		g.Expect(tokens.times()).To(HaveLen(2))
		g.Expect(access.Tokens()).To(ContainElement("deployer-token-2"))
		access.Close()
	})
}

func TestARunThatEndsWhileATokenIsRenewedDoesNotWaitForIt(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		access, err := accountsOf(&issuer{}).Open(t.Context(), dir, deployer, ignore)
		g.Expect(err).NotTo(HaveOccurred())
		begin := time.Now()
		access.Close()
		g.Expect(time.Since(begin)).To(BeZero())
	})
}

func TestWhenATokenIsRenewed(t *testing.T) {
	g := NewWithT(t)
	now := time.Now()
	for life, want := range map[time.Duration]time.Duration{
		time.Hour:        48 * time.Minute,
		10 * time.Minute: 8 * time.Minute,
		24 * time.Hour:   48 * time.Minute, // a wrong clock, or a generous server
		time.Second:      10 * time.Second,
		-time.Hour:       10 * time.Second,
	} {
		g.Expect(token{asked: now, expires: now.Add(life)}.renewIn()).To(Equal(want), life.String())
	}
}
