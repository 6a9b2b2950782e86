// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/tests/cloudidentity"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	subject  = "system:serviceaccount:default:deployer"
	role     = "arn:aws:iam::111122223333:role/deployer"
	provider = "projects/123/locations/global/workloadIdentityPools/flux/providers/cluster"
	gsa      = "deployer@project.iam.gserviceaccount.com"
)

// fixture is an API server, the stand-ins that trust it, and a home for bare Pulumi.
type fixture struct {
	*GomegaWithT
	t      *testing.T
	clouds *cloudidentity.Clouds
	tokens kubernetes.Interface
	home   string
}

func start(t *testing.T) *fixture {
	t.Helper()
	g := NewWithT(t)
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })
	f := &fixture{GomegaWithT: g, t: t, home: t.TempDir()}
	f.tokens, err = kubernetes.NewForConfig(plane.RESTConfig())
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"deployer", "other"} {
		_, err = f.tokens.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	f.clouds, err = cloudidentity.Start(t.Context(), cloudidentity.Options{Config: plane.RESTConfig(), Dir: t.TempDir(), Life: 2 * time.Second})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(f.clouds.Close()).To(Succeed()) })
	f.clouds.Allow(
		cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: subject, Audience: "sts.amazonaws.com", Identity: role},
		cloudidentity.Trust{Cloud: cloudidentity.Azure, Subject: subject, Audience: "api://AzureADTokenExchange", Identity: "tenant/client"},
		cloudidentity.Trust{Cloud: cloudidentity.Google, Subject: subject, Audience: "https://iam.googleapis.com/" + provider, Identity: cloudidentity.Federated(provider, subject)},
		cloudidentity.Trust{Cloud: cloudidentity.Google, Subject: subject, Identity: gsa},
		cloudidentity.Trust{Cloud: cloudidentity.OIDC, Subject: subject, Audience: "example", Identity: subject},
	)
	plugin, err := process.FindBin("lab/pulumi-resource-clouds")
	g.Expect(err).NotTo(HaveOccurred())
	dir := filepath.Join(f.home, "plugins", "resource-clouds-v0.1.0")
	g.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	g.Expect(os.Symlink(plugin, filepath.Join(dir, "pulumi-resource-clouds"))).To(Succeed())
	return f
}

// token writes a token of an account to a file.
func (f *fixture) token(account, audience string) (path string) {
	f.t.Helper()
	answer, err := f.tokens.CoreV1().ServiceAccounts("default").CreateToken(f.t.Context(), account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: ptr.To[int64](600)},
	}, metav1.CreateOptions{})
	f.Expect(err).NotTo(HaveOccurred())
	path = filepath.Join(f.t.TempDir(), "token")
	f.Expect(os.WriteFile(path, []byte(answer.Status.Token), 0o600)).To(Succeed())
	return path
}

// call runs a program that calls a cloud with nothing but the variables, and returns its output.
func (f *fixture) call(cloud string, variables map[string]string) (output string, err error) {
	f.t.Helper()
	dir := f.t.TempDir()
	program := fmt.Sprintf(`
name: app
runtime: yaml
resources:
  caller:
    type: clouds:index:Caller
    properties: {cloud: %q, sessions: 2, tokenFileVariable: OIDC_TOKEN_FILE}
outputs: {identity: "${caller.identity}"}
`, cloud)
	f.Expect(os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(program), 0o644)).To(Succeed())
	pulumi, err := process.FindBin("pulumi")
	f.Expect(err).NotTo(HaveOccurred())
	env := map[string]string{
		"PULUMI_HOME": f.home, "HOME": dir, "PULUMI_BACKEND_URL": "file://" + dir, "PULUMI_CONFIG_PASSPHRASE": "", "PULUMI_SKIP_UPDATE_CHECK": "true",
		"PATH": filepath.Dir(pulumi) + ":/usr/bin:/bin", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
	}
	maps.Copy(env, f.clouds.Env())
	maps.Copy(env, variables)
	for _, args := range [][]string{{"stack", "init", "dev"}, {"up", "--yes", "--skip-preview", "--stack", "dev", "--color=never"}} {
		cmd := exec.CommandContext(f.t.Context(), pulumi, append(args, "--non-interactive")...)
		cmd.Dir, cmd.Env = dir, nil
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		text, err := cmd.CombinedOutput()
		if output = string(text); err != nil {
			return output, err
		}
	}
	return output, nil
}

func TestTheRealSDKsExchangeTokensOfTheAPIServer(t *testing.T) {
	f := start(t)
	aws := func(account, audience string) map[string]string {
		return map[string]string{"AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": f.token(account, audience), "AWS_REGION": "us-east-1", "AWS_ROLE_SESSION_NAME": "default.app"}
	}
	azure := func(account, audience string) map[string]string {
		return map[string]string{"AZURE_CLIENT_ID": "client", "AZURE_TENANT_ID": "tenant", "AZURE_FEDERATED_TOKEN_FILE": f.token(account, audience)}
	}
	google := func(impersonated string) func(account, audience string) map[string]string {
		return func(account, audience string) map[string]string {
			text := fmt.Sprintf(`{"type": "external_account", "audience": "//iam.googleapis.com/%s", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
"token_url": "https://sts.googleapis.com/v1/token", "credential_source": {"file": %q}%s}`, provider, f.token(account, audience), impersonated)
			path := filepath.Join(t.TempDir(), "credentials.json")
			f.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
			return map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": path}
		}
	}
	oidc := func(account, audience string) map[string]string {
		return map[string]string{"OIDC_TOKEN_FILE": f.token(account, audience)}
	}
	impersonated := google(`, "service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/` + gsa + `:generateAccessToken"`)
	for _, c := range []struct {
		name, cloud, audience, identity string
		variables                       func(account, audience string) map[string]string
		wrongAudience, wrongAccount     string
	}{
		{"AWS", "aws", "sts.amazonaws.com", role, aws, "Incorrect token audience", "Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		{"Azure", "azure", "api://AzureADTokenExchange", "tenant/client", azure, "AADSTS700212", "AADSTS700213"},
		{"Google", "gcp", "https://iam.googleapis.com/" + provider, cloudidentity.Federated(provider, subject), google(""), "does not match the expected audience", "rejected by the attribute condition"},
		{"Google, as a service account", "gcp", "https://iam.googleapis.com/" + provider, gsa, impersonated, "does not match the expected audience", "rejected by the attribute condition"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(f.call(c.cloud, c.variables("deployer", c.audience))).To(ContainSubstring(c.identity))
			output, err := f.call(c.cloud, c.variables("deployer", "else"))
			g.Expect(err).To(HaveOccurred())
			g.Expect(output).To(ContainSubstring(c.wrongAudience))
			output, _ = f.call(c.cloud, c.variables("other", c.audience))
			g.Expect(output).To(ContainSubstring(c.wrongAccount))
		})
	}
	t.Run("OIDC", func(t *testing.T) {
		g := NewWithT(t)
		output, _ := f.call(cloudidentity.OIDCURL, oidc("deployer", "else"))
		g.Expect(output).To(ContainSubstring("the token is for another audience"))
	})
	granted := slices.DeleteFunc(f.clouds.Exchanges(subject), func(e cloudidentity.Exchange) bool { return e.Refused != "" })
	f.Expect(len(granted)).To(BeNumerically(">=", 8), "each SDK exchanges its token once more when its credentials expire")
	f.Expect(granted[0].Session).To(Equal("default.app"))
}

func TestATokenThatNobodySignedIsRefused(t *testing.T) {
	f := start(t)
	text, err := os.ReadFile(f.token("deployer", "sts.amazonaws.com"))
	f.Expect(err).NotTo(HaveOccurred())
	head, signature, _ := strings.Cut(string(text), ".")
	claims, _, _ := strings.Cut(signature, ".")
	path := filepath.Join(t.TempDir(), "token")
	f.Expect(os.WriteFile(path, []byte(head+"."+claims+".c2lnbmF0dXJl"), 0o600)).To(Succeed())
	output, err := f.call("aws", map[string]string{"AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": path, "AWS_REGION": "us-east-1"})
	f.Expect(err).To(HaveOccurred())
	f.Expect(output).To(ContainSubstring("InvalidIdentityToken"))
	f.Expect(f.clouds.Exchanges(subject)).To(BeEmpty())
}
