// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/netip"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func seconds(n int) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(n) * time.Second}
}

// closedPort is an address that nothing listens on. A socket holds its port until the
// test ends: another process, like an engine, could take a free port.
func (t *tenant) closedPort() string {
	t.test.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	t.Expect(err).NotTo(HaveOccurred())
	t.test.Cleanup(func() { t.Expect(syscall.Close(socket)).To(Succeed()) })
	t.Expect(syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})).To(Succeed())
	address, err := syscall.Getsockname(socket)
	t.Expect(err).NotTo(HaveOccurred())
	bound, ok := address.(*syscall.SockaddrInet4)
	t.Expect(ok).To(BeTrue())
	return netip.AddrPortFrom(netip.AddrFrom4(bound.Addr), uint16(bound.Port)).String()
}

func TestABackendThatCannotBeReachedIsReported(t *testing.T) {
	short.Skip(t)
	for name, test := range map[string]struct {
		backend func(*tenant) string
		texts   []string
		reason  string
	}{
		"a directory that is not there": {
			func(*tenant) string { return "file:///nonexistent/directory" }, []string{"/nonexistent/directory", "the backend cannot be opened"}, v1.UpdateFailedReason},
		"an object store that does not answer": {
			func(u *tenant) string {
				return "s3://stacks?region=us-east-1&s3ForcePathStyle=true&disableSSL=true&endpoint=" + u.closedPort()
			}, []string{"connection refused", "nothing answers at that address"}, v1.BackendUnavailableReason},
		"a Pulumi Cloud that does not answer": {
			func(u *tenant) string { return "http://" + u.closedPort() }, []string{"connection refused", "nothing answers at that address"}, v1.BackendUnavailableReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTenant(t, shared)
			u.apply(u.program(oneThing("one")))
			backend := test.backend(u)
			stack := u.stack(fromProgram, func(s *v1.Stack) {
				s.Spec.Backend = backend
				s.Spec.EnvRefs["AWS_ACCESS_KEY_ID"] = literal("key")
				s.Spec.EnvRefs["AWS_SECRET_ACCESS_KEY"] = literal("also-a-key")
				s.Spec.EnvRefs["PULUMI_ACCESS_TOKEN"] = literal("pul-0123456789")
			})
			u.apply(stack)
			u.awaitFailure(stack, test.reason, test.texts...)
			u.Expect(u.things()).To(BeEmpty())

			edit(u, stack, func(s *v1.Stack) { s.Spec.Backend = u.backendURL() })
			u.awaitReady(stack)
			u.kept("app", "one")
		})
	}
}

func TestAPassphraseThatIsMissingIsReported(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.EnvRefs = nil })
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, "PULUMI_CONFIG_PASSPHRASE")
	u.Expect(u.things()).To(BeEmpty())

	edit(u, stack, func(s *v1.Stack) {
		s.Spec.EnvRefs = map[string]v1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": literal(passphrase)}
	})
	u.awaitReady(stack)
	u.kept("app", "one")
}

func TestAPassphraseThatIsWrongIsReported(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one", "secretValue: x-secret-x")))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app"}, StringData: map[string]string{"passphrase": passphrase}}
	u.apply(secret)
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.EnvRefs["PULUMI_CONFIG_PASSPHRASE"] = secretKey("app", "passphrase")
	})
	u.apply(stack)
	u.awaitReady(stack)

	edit(u, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"passphrase": "not-the-passphrase"} })
	u.awaitFailure(stack, v1.UpdateFailedReason, "incorrect passphrase", "PULUMI_CONFIG_PASSPHRASE is not the passphrase")
	u.kept("app", "one")

	edit(u, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"passphrase": passphrase} })
	u.awaitReady(stack)
	u.kept("app", "one")
}

func TestASecretThatIsMissingIsWaitedFor(t *testing.T) {
	short.Skip(t)
	for name, ref := range map[string]func(*v1.Stack){
		"for the environment": func(s *v1.Stack) { s.Spec.EnvRefs["TOKEN"] = secretKey("late", "token") },
		"for the config": func(s *v1.Stack) {
			s.Spec.SecretsRef = map[string]v1.ResourceRef{"token": secretKey("late", "token")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTenant(t, shared)
			u.apply(u.program(oneThing("one")))
			stack := u.stack(fromProgram, ref)
			u.apply(stack)
			u.awaitFailure(stack, v1.InputsFailedReason, "Secret '"+u.namespace+"/late' not found")

			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "late"}, StringData: map[string]string{"tokn": "x"}}
			u.apply(secret)
			u.awaitFailure(stack, v1.InputsFailedReason, "Secret '"+u.namespace+`/late' has no key "token"`)
			u.Expect(u.pulumiCalls()).To(BeEmpty())

			edit(u, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"token": "a-token-at-last"} })
			u.awaitReady(stack)
			u.kept("app", "one")

			u.delete(secret)
			u.awaitFailure(stack, v1.InputsFailedReason, "Secret '"+u.namespace+"/late' not found")
			u.kept("app", "one")
		})
	}
}

func TestTheAPIServerRefusesTwoSourcesAndNone(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	for _, stack := range []*v1.Stack{u.stack(), u.stack(fromGit, fromProgram)} {
		err := u.Create(u.ctx, stack)
		u.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		u.Expect(err).To(MatchError(ContainSubstring("exactly one of fluxSource, programRef and projectRepo is required")))
	}
}

// Only the backend knows that file backends have no organizations: the name does not show it.
func TestAnOrganizationThatTheBackendHasNotIsReported(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.Stack = "acme/app/dev" })
	u.apply(stack)
	u.awaitStalled(stack, v1.InvalidSpecReason, "spec.stack", "the organization must be 'organization'")
}
