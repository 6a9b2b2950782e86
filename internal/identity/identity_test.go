// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const (
	role     = "arn:aws:iam::123456789012:role/platform/deploy"
	client   = "11111111-2222-3333-4444-555555555555"
	tenant   = "66666666-7777-8888-9999-000000000000"
	provider = "projects/123456789/locations/global/workloadIdentityPools/flux/providers/cluster"
	account  = "deploy@project-1.iam.gserviceaccount.com"
)

// in are the places of a run.
func in() Places { return Places{Tokens: "/tokens", Files: "/files"} }

func TestAnnotationsAreAnIdentity(t *testing.T) {
	for name, test := range map[string]struct {
		annotations map[string]string
		want        Identity
		tokens      []Token
		variables   map[string]string
	}{
		"none": {annotations: map[string]string{"other": "x"}, variables: map[string]string{}},
		"AWS": {
			annotations: map[string]string{AWSRoleAnnotation: role},
			want:        Identity{AWS: &AWS{Role: role}},
			tokens:      []Token{{"aws-token", "sts.amazonaws.com"}},
			variables: map[string]string{"AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": "/tokens/aws-token",
				"AWS_ROLE_SESSION_NAME": "apps.network"},
		},
		"Azure": {
			annotations: map[string]string{AzureClientAnnotation: client, AzureTenantAnnotation: tenant},
			want:        Identity{Azure: &Azure{Client: client, Tenant: tenant}},
			tokens:      []Token{{"azure-token", "api://AzureADTokenExchange"}},
			variables: map[string]string{"AZURE_CLIENT_ID": client, "AZURE_TENANT_ID": tenant, "AZURE_FEDERATED_TOKEN_FILE": "/tokens/azure-token",
				"AZURE_AUTHORITY_HOST": "https://login.microsoftonline.com/",
				"ARM_USE_OIDC":         "true", "ARM_CLIENT_ID": client, "ARM_TENANT_ID": tenant, "ARM_OIDC_TOKEN_FILE_PATH": "/tokens/azure-token"},
		},
		"Google Cloud": {
			annotations: map[string]string{GoogleProviderAnnotation: provider, GoogleAccountAnnotation: account},
			want:        Identity{Google: &Google{Provider: provider, Account: account}},
			tokens:      []Token{{"google-token", "//iam.googleapis.com/" + provider}},
			variables:   map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/files/google-credentials.json"},
		},
		"an account of Google Cloud only, which is for GKE's metadata server": {
			annotations: map[string]string{GoogleAccountAnnotation: account}, variables: map[string]string{},
		},
		"other audiences": {
			annotations: map[string]string{AudiencesAnnotation: " vault=https://vault.example.com/?a=b, npm-registry=npm,"},
			want:        Identity{Other: []Audience{{"npm-registry", "npm"}, {"vault", "https://vault.example.com/?a=b"}}},
			tokens:      []Token{{"npm-registry.token", "npm"}, {"vault.token", "https://vault.example.com/?a=b"}},
			variables: map[string]string{"OIDC_TOKEN_FILE_VAULT": "/tokens/vault.token",
				"OIDC_TOKEN_FILE_NPM_REGISTRY": "/tokens/npm-registry.token"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := Parse(test.annotations)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(test.want))
			g.Expect(got.IsZero()).To(Equal(test.tokens == nil))
			g.Expect(got.Tokens()).To(Equal(test.tokens))
			g.Expect(got.Variables(in(), "apps", "network")).To(Equal(test.variables))
			g.Expect(got.Lines()).To(HaveLen(len(test.tokens)))
			g.Expect(len(Annotations(test.annotations)) > 0).To(Equal(test.tokens != nil))

			text, err := json.Marshal(got)
			g.Expect(err).NotTo(HaveOccurred())
			var again Identity
			g.Expect(json.Unmarshal(text, &again)).To(Succeed())
			g.Expect(again).To(Equal(got), "as the pod of a run reads it")
		})
	}
}

func TestAnnotationsWithoutTheFeatureGateHaveNoEffect(t *testing.T) {
	annotations := map[string]string{
		AWSRoleAnnotation: role, AzureClientAnnotation: client, GoogleProviderAnnotation: "wrong", GoogleAccountAnnotation: account,
		AudiencesAnnotation: "a=b", "other": "x",
	}
	g := NewWithT(t)
	g.Expect(Unused(annotations, false)).To(Equal([]string{AzureClientAnnotation, AWSRoleAnnotation, GoogleProviderAnnotation, AudiencesAnnotation}))
	g.Expect(Unused(annotations, true)).To(Equal([]string{GoogleProviderAnnotation, AudiencesAnnotation}), "webhooks of the clouds read the others")
	g.Expect(Unused(map[string]string{GoogleAccountAnnotation: account}, false)).To(BeEmpty(), "it is for GKE's metadata server")
}

func TestAWrongAnnotationIsNamed(t *testing.T) {
	for name, test := range map[string]struct {
		annotations map[string]string
		want        string
	}{
		"no ARN":             {map[string]string{AWSRoleAnnotation: "deploy"}, "eks.amazonaws.com/role-arn is not the ARN of a role"},
		"an ARN of a user":   {map[string]string{AWSRoleAnnotation: "arn:aws:iam::1:user/x"}, "eks.amazonaws.com/role-arn is not"},
		"two lines":          {map[string]string{AWSRoleAnnotation: role + "\nX=y"}, "eks.amazonaws.com/role-arn is not"},
		"a client only":      {map[string]string{AzureClientAnnotation: client}, "azure.workload.identity/client-id needs azure.workload.identity/tenant-id"},
		"a tenant only":      {map[string]string{AzureTenantAnnotation: tenant}, "azure.workload.identity/tenant-id needs azure.workload.identity/client-id"},
		"a tenant as a path": {map[string]string{AzureClientAnnotation: client, AzureTenantAnnotation: "a/../b"}, "tenant-id is not the ID"},
		"a short provider":   {map[string]string{GoogleProviderAnnotation: "flux"}, "gcp.auth.fluxcd.io/workload-identity-provider is not projects/"},
		"an account as a path": {map[string]string{GoogleProviderAnnotation: provider, GoogleAccountAnnotation: "a/b@c.iam.gserviceaccount.com"},
			"iam.gke.io/gcp-service-account is not the email address"},
		"an audience without a name": {map[string]string{AudiencesAnnotation: "https://vault"}, "pulumi.com/token-audiences must be a list"},
		"a name as a path":           {map[string]string{AudiencesAnnotation: "../x=y"}, "pulumi.com/token-audiences must be a list"},
		"a name twice":               {map[string]string{AudiencesAnnotation: "a=x,a=y"}, "has the name a twice"},
		"too many": {map[string]string{AudiencesAnnotation: "a=x,b=x,c=x,d=x,e=x,f=x,g=x,h=x,i=x,j=x,k=x"},
			"has more than 10 audiences"},
		"very long": {map[string]string{AudiencesAnnotation: "a=" + strings.Repeat("x", 513)}, "must be a list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(test.annotations)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestTheCredentialsFileOfGoogleCloudNamesTheTokenAndTheAccount(t *testing.T) {
	g := NewWithT(t)
	files, err := Identity{Google: &Google{Provider: provider, Account: account}}.Files(in())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files["google-credentials.json"]).To(MatchJSON(`{
		"type": "external_account", "audience": "//iam.googleapis.com/` + provider + `", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
		"token_url": "https://sts.googleapis.com/v1/token", "universe_domain": "googleapis.com",
		"service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/` + account + `:generateAccessToken",
		"credential_source": {"file": "/tokens/google-token", "format": {"type": "text"}}}`))

	files, err = Identity{Google: &Google{Provider: provider}}.Files(in())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(files["google-credentials.json"])).To(And(
		ContainSubstring(`"token_info_url": "https://sts.googleapis.com/v1/introspect"`), Not(ContainSubstring("impersonation"))))
	g.Expect(Identity{AWS: &AWS{Role: role}}.Files(in())).To(BeEmpty())
}

func all() Identity {
	return Identity{
		AWS: &AWS{Role: role}, Azure: &Azure{Client: client, Tenant: tenant}, Google: &Google{Provider: provider, Account: account},
		Other: []Audience{{"vault", "https://vault"}},
	}
}

func TestAStackCannotHaveOtherCredentialsBesideItsIdentity(t *testing.T) {
	for name, want := range map[string]string{
		"AWS_ACCESS_KEY_ID": AWSRoleAnnotation, "AWS_PROFILE": AWSRoleAnnotation, "AWS_ROLE_ARN": AWSRoleAnnotation,
		"AWS_ACCESS_KEY": AWSRoleAnnotation, "AWS_SECRET_KEY": AWSRoleAnnotation, "AWS_DEFAULT_PROFILE": AWSRoleAnnotation,
		"AWS_REGION": "", "AWS_ENDPOINT_URL_STS": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AZURE_USERNAME": AzureClientAnnotation, "AZURE_PASSWORD": AzureClientAnnotation, "ARM_CLIENT_CERTIFICATE": AzureClientAnnotation,
		"ARM_CLIENT_SECRET_FILE_PATH": AzureClientAnnotation, "AZURE_STORAGE_KEY": "",
		"GOOGLE_CLOUD_KEYFILE_JSON": GoogleProviderAnnotation, "GCLOUD_KEYFILE_JSON": GoogleProviderAnnotation,
		"ARM_CLIENT_SECRET": AzureClientAnnotation, "AZURE_CLIENT_ID": AzureClientAnnotation,
		"ARM_SUBSCRIPTION_ID": "", "AZURE_AUTHORITY_HOST": "", "ARM_ENVIRONMENT": "", "AZURE_STORAGE_ACCOUNT": "",
		"GOOGLE_CREDENTIALS": GoogleProviderAnnotation, "GOOGLE_APPLICATION_CREDENTIALS": GoogleProviderAnnotation, "GOOGLE_PROJECT": "",
		"OIDC_TOKEN_FILE_VAULT": AudiencesAnnotation, "OIDC_TOKEN_FILE_OTHER": "", "PULUMI_ACCESS_TOKEN": "",
	} {
		variable, annotation := all().Conflict(map[string]string{name: "x", "OTHER": "y"})
		g := NewWithT(t)
		g.Expect(annotation).To(Equal(want), name)
		g.Expect(variable == name).To(Equal(want != ""), name)
		variable, _ = Identity{}.Conflict(map[string]string{name: "x"})
		g.Expect(variable).To(BeEmpty(), name)
	}
}

func TestCredentialsOfAPodComeBeforeItsIdentity(t *testing.T) {
	for name, want := range map[string]string{
		"AWS_SECRET_ACCESS_KEY": AWSRoleAnnotation, "AWS_PROFILE": AWSRoleAnnotation, "ARM_CLIENT_SECRET": AzureClientAnnotation,
		"GOOGLE_CREDENTIALS": GoogleProviderAnnotation,
		// Those of the identity, as the webhooks of EKS and AKS add them, and of Pod Identity, which comes after it.
		"AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "AZURE_FEDERATED_TOKEN_FILE": "", "AZURE_CLIENT_ID": "",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "GOOGLE_APPLICATION_CREDENTIALS": "", "AWS_REGION": "",
	} {
		g := NewWithT(t)
		variable, annotation := all().Outranked(map[string]string{name: "x", "OTHER": "y"})
		g.Expect(annotation).To(Equal(want), name)
		g.Expect(variable == name).To(Equal(want != ""), name)
		variable, _ = all().Outranked(map[string]string{name: ""})
		g.Expect(variable).To(BeEmpty(), name)
		variable, _ = Identity{}.Outranked(map[string]string{name: "x"})
		g.Expect(variable).To(BeEmpty(), name)
	}
}

func TestAStackMaySetWhereAzureIs(t *testing.T) {
	g := NewWithT(t)
	own := map[string]string{"AZURE_AUTHORITY_HOST": "https://login.microsoftonline.us/", "A": "b"}
	env := all().Environment(own, in(), "apps", "network")
	g.Expect(env).To(HaveKeyWithValue("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.us/"))
	g.Expect(env).To(And(HaveKeyWithValue("A", "b"), HaveKeyWithValue("AWS_ROLE_ARN", role)))
	g.Expect(own).To(HaveLen(2), "the run of another attempt has the same variables")
	g.Expect(all().Environment(nil, in(), "apps", "network")).To(HaveKey("AZURE_AUTHORITY_HOST"))
}

func TestTheNameOfASessionNamesTheStackAndIsNoLongerThanAWSLetsIt(t *testing.T) {
	g := NewWithT(t)
	valid := regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
	long := strings.Repeat("n", 63)
	one, other := sessionName(long, strings.Repeat("s", 253)), sessionName(long, strings.Repeat("s", 252))
	for _, name := range []string{one, other, sessionName("a", "b"), sessionName("apps", strings.Repeat("s", 59))} {
		g.Expect(name).To(MatchRegexp(valid.String()))
	}
	g.Expect(one).NotTo(Equal(other))
	g.Expect(sessionName("apps", strings.Repeat("s", 59))).To(HaveSuffix("sss"))
}

func TestARefusalOfACloudIsExplained(t *testing.T) {
	aws, azure, google := "role "+role+" of AWS, audience sts.amazonaws.com", "client "+client+" of Azure tenant "+tenant, "account "+account+" of Google Cloud"
	for message, want := range map[string]string{
		"operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, api error AccessDenied: Not authorized": aws,
		"operation error S3: CreateBucket, api error AccessDenied: Access Denied":                                                      aws,
		"api error InvalidIdentityToken: Incorrect token audience":                                                                     aws,
		"api error ExpiredTokenException: Token expired":                                                                               aws,
		"api error UnauthorizedOperation: You are not authorized":                                                                      aws,
		"WorkloadIdentityCredential authentication failed: AADSTS700212: No matching federated identity record found":                  azure,
		"AADSTS700024: Client assertion is not within its valid time range":                                                            azure,
		"Code=\"AuthorizationFailed\" the client does not have authorization to perform action":                                        azure,
		`oauth2/google: status code 400: {"error":"invalid_grant","error_description":"The audience in ID Token does not match"}`:      google,
		"googleapi: Error 403: deploy does not have storage.buckets.create access to the Google Cloud project., forbidden":             google,
		"error: resource 'a' has a property with an invalid type":                                                                      "",
		"": "",
	} {
		g := NewWithT(t)
		got := all().Explain(message, "apps", "deployer")
		if want == "" {
			g.Expect(got).To(BeEmpty(), message)
			continue
		}
		g.Expect(got).To(And(HavePrefix("The program is "+want), ContainSubstring("subject system:serviceaccount:apps:deployer")), message)
		g.Expect(Identity{}.Explain(message, "apps", "deployer")).To(BeEmpty(), message)
	}
}

func TestTheDigestOfAnIdentityIsOfItsAnnotations(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Identity{}.Text()).To(BeEmpty(), "so that Stacks without one keep their digest")
	texts := map[string]bool{}
	for _, identity := range []Identity{all(), {AWS: &AWS{role}}, {AWS: &AWS{role + "2"}}, {Azure: &Azure{client, tenant}}, {Google: &Google{provider, ""}}, {Google: &Google{provider, account}}} {
		text, err := identity.Text()
		g.Expect(err).NotTo(HaveOccurred())
		texts[text] = true
	}
	g.Expect(slices.Collect(maps.Keys(texts))).To(HaveLen(6))
}
