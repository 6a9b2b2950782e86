// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTokensThatAWebhookAddsToAPodAreMasked(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	token := func(of string) string { return "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI" + of + "." + strings.Repeat("s", 40) }
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return path
	}
	pipe := filepath.Join(dir, "pipe")
	g.Expect(syscall.Mkfifo(pipe, 0o600)).To(Succeed())
	eks, podIdentity, azure, google := put("eks", token("eks")+"\n"), put("pod-identity", token("pod")), put("azure", token("azure")), put("google", token("google"))
	environ := map[string]string{
		"AWS_WEB_IDENTITY_TOKEN_FILE": eks, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": podIdentity,
		"AZURE_FEDERATED_TOKEN_FILE": azure, "ARM_OIDC_TOKEN_FILE_PATH": azure,
		"GOOGLE_APPLICATION_CREDENTIALS": put("credentials.json", `{"type": "external_account", "credential_source": {"file": "`+google+`"}}`),
		// What is no token, or cannot be read.
		"SSL_CERT_FILE": put("ca.pem", "-----BEGIN CERTIFICATE-----"), "HOME": dir, "PIPE": pipe, "NONE": filepath.Join(dir, "none"),
		"LARGE": put("large", strings.Repeat("a", maxTokenFile)+".b.c"), "RELATIVE": "eks", "VALUE": token("value"),
	}
	var variables []string
	for name, value := range environ {
		variables = append(variables, name+"="+value)
	}
	files := InjectedTokens(variables)
	g.Expect(files).To(ConsistOf(eks, podIdentity, azure, google))

	mounted := &Mounted{TokenFile: filepath.Join(dir, "none"), Injected: files}
	g.Expect(mounted.Tokens()).To(ConsistOf(token("eks"), token("pod"), token("azure"), token("google")))
	put("eks", token("renewed"))
	g.Expect(mounted.Tokens()).To(ContainElements(token("eks"), token("renewed")), "both may be valid")
}
