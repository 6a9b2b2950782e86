// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func TestTheEnvironmentComesFromWholeObjects(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one", "secretValue: x-secret-x")))
	u.apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "plain"},
		Data: map[string]string{"PULUMI_CONFIG_PASSPHRASE": "overridden", "app.properties": "x"}})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secret"}, StringData: map[string]string{"PULUMI_CONFIG_PASSPHRASE": passphrase}}
	u.apply(secret)
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cloud"}, StringData: map[string]string{"token": "pul-0123456789"}})
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		delete(s.Spec.EnvRefs, "PULUMI_CONFIG_PASSPHRASE")
		s.Spec.Envs, s.Spec.EnvSecrets, s.Spec.AccessTokenSecret = []string{"plain"}, []string{"secret"}, "cloud"
		s.Spec.Secrets = map[string]string{"unused": "hunter2hunter2"}
	})
	u.apply(stack)
	u.awaitFailure(stack, v1.InputsFailedReason, "spec.accessTokenSecret: Secret '"+u.namespace+`/cloud' has no key "accessToken"`)

	edit(u, stack, func(s *v1.Stack) { s.Spec.AccessTokenSecret = "" })
	u.awaitReady(stack)
	u.kept("app", "one")

	edit(u, secret, func(s *corev1.Secret) {
		s.StringData = map[string]string{"PULUMI_CONFIG_PASSPHRASE": "not-the-passphrase"}
	})
	u.awaitFailure(stack, v1.UpdateFailedReason, "incorrect passphrase")
	edit(u, secret, func(s *corev1.Secret) {
		s.StringData = map[string]string{"PATH": "/evil", "PULUMI_CONFIG_PASSPHRASE": passphrase}
	})
	u.awaitFailure(stack, v1.InputsFailedReason, "spec.envSecrets[0] (key PATH): the environment variable PATH cannot be set")
}

func TestAStackThatIsNotThereIsNotMadeWhereThatIsAskedFor(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.UseLocalStackOnly = true })
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, "is not in the backend", "spec.useLocalStackOnly")
	u.Expect(u.things()).To(BeEmpty())
	edit(u, stack, func(s *v1.Stack) { s.Spec.UseLocalStackOnly = false })
	u.awaitReady(stack)
	edit(u, stack, func(s *v1.Stack) { s.Spec.UseLocalStackOnly = true })
	u.awaitReady(stack)
	u.kept("app", "one")
}

// transit answers like the transit engine of Vault, but without encryption: the test is about whom Pulumi asks.
func transit(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := map[string]string{"ciphertext": "vault:v1:" + body["plaintext"]}
		if path.Base(path.Dir(r.URL.Path)) == "decrypt" {
			answer = map[string]string{"plaintext": strings.TrimPrefix(body["ciphertext"], "vault:v1:")}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": answer})
	}))
	t.Cleanup(server.Close)
	return server
}

func TestAChangedSecretsProviderIsApplied(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	vault := transit(t)
	u.apply(u.program(oneThing("one", "secretValue: x-secret-x")))
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.EnvRefs["VAULT_SERVER_URL"], s.Spec.EnvRefs["VAULT_SERVER_TOKEN"] = literal(vault.URL), literal("t")
	})
	u.apply(stack)
	u.awaitReady(stack)
	inState := func(text string) bool {
		for file := range u.backendFiles() {
			if !strings.Contains(file, "/.pulumi/stacks/") || path.Ext(file) != ".json" {
				continue
			}
			state, err := os.ReadFile(file)
			u.Expect(err).NotTo(HaveOccurred())
			if strings.Contains(string(state), text) {
				return true
			}
		}
		return false
	}
	u.Expect(inState("hashivault://key")).To(BeFalse())

	edit(u, stack, func(s *v1.Stack) { s.Spec.SecretsProvider = "hashivault://key" })
	u.awaitReady(stack)
	u.Expect(inState("hashivault://key")).To(BeTrue())
	u.kept("app", "one")

}

func TestTheControllerIsReadOnlyWhereItAllowsThat(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	ref := v1.ResourceRef{Type: v1.ResourceRefEnv, Env: &v1.EnvReference{Name: "PATH"}}
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.EnvRefs["THEIRS"] = ref })
	u.apply(stack)
	u.awaitStalled(stack, "AccessDenied", "spec.envRefs.THEIRS: type Env reads from the controller itself", "--allow-controller-refs")
	u.Expect(u.pulumiCalls()).To(BeEmpty())
}

func TestValuesOfTheControllerReachTheProgram(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(dir+"/passphrase", []byte(passphrase), 0o600)).To(Succeed())
	u := newTenant(t, ownController(t, "refs", "--allow-controller-refs"))
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.EnvRefs["PULUMI_CONFIG_PASSPHRASE"] = v1.ResourceRef{
			Type: v1.ResourceRefFS, FileSystem: &v1.FileReference{Path: dir + "/passphrase"}}
		s.Spec.EnvRefs["THEIRS"] = v1.ResourceRef{Type: v1.ResourceRefEnv, Env: &v1.EnvReference{Name: "PATH"}}
	})
	u.apply(stack)
	u.awaitReady(stack)
	u.kept("app", "one")
	edit(u, stack, func(s *v1.Stack) {
		delete(s.Spec.EnvRefs, "PULUMI_CONFIG_PASSPHRASE")
		s.Spec.EnvRefs["PULUMI_CONFIG_PASSPHRASE_FILE"] = literal(dir + "/passphrase")
		s.Spec.SecretsRef = map[string]v1.ResourceRef{"pw": literal("canary-with-a-file")}
	})
	u.awaitReady(stack)
}
