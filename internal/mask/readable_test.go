// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const (
	usualKubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: TFMwdExTMUNSVWRKVGlCRFJWSlVTVVpKUTBGVVJTMHRMUzB0
contexts:
- name: kubernetes-admin@kubernetes
  context: {cluster: kubernetes, user: kubernetes-admin, namespace: production}
users:
- name: kubernetes-admin
  user: {client-key-data: TFMwdExTMUNSVWRKVGlCUVVrbFdRVlJGSUV0RldTMHRMUzB0, token: canary-kubetoken}
current-context: kubernetes-admin@kubernetes
`
	usualAccount = `{"type": "service_account", "project_id": "my-project-412345", "private_key_id": "0123456789abcdef0123456789abcdef01234567",
"private_key": "-----BEGIN PRIVATE KEY-----\nMIICanarycanarycanary1234\n-----END PRIVATE KEY-----\n",
"client_email": "deployer@my-project-412345.iam.gserviceaccount.com", "client_id": "109876543210987654321",
"auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": "https://oauth2.googleapis.com/token", "universe_domain": "googleapis.com"}`
)

// Common error messages stay word for word.
func TestCommonErrorsStayReadable(t *testing.T) {
	secrets := []string{
		usualKubeconfig, usualAccount, `{"keys":["read","write","list"],"design":"fail","keyboard":"reso","tokenType":"bearer"}`, "true", "0000", "0001", "1.0",
		`{"clientId":"3f2504e0-4f89-11d3-9a0c-0305e82c3301","subscriptionId":"9b2c7a10-0d3f-4c55-8f0e-4dd1b7c0a001"}`,
		"AWS_REGION=eu-central-1\nAWS_PROFILE=default\nDB_HOST=db.example.com\n",
	}
	m := New(secrets)
	for _, text := range []string{
		`error: kubernetes:core/v1:Secret resource 'lab': creating failed: Get "https://10.0.0.1:6443/api": namespace "production" of kubernetes not found`,
		`kubernetes:core/v1:ConfigMap (app): error: configured Kubernetes cluster is unreachable: unable to load schema information from the API server`,
		`configmaps is forbidden: User "kubernetes-admin" cannot list resource "configmaps" in API group "" in the namespace "production"`,
		`googleapi: Error 403: Permission denied on resource project my-project-412345., forbidden: https://compute.googleapis.com/v1/projects/my-project-412345`,
		`deployer@my-project-412345.iam.gserviceaccount.com does not have storage.buckets.get access: service_account`,
		`cannot read the resource list: write failed: design of the keyboard, bearer of resources`,
		`operation error S3: CreateBucket, https response error StatusCode: 409, RequestID: 4XQ, BucketAlreadyExists: in eu-central-1, default, db.example.com`,
		`authorization failed: client "3f2504e0-4f89-11d3-9a0c-0305e82c3301" over /subscriptions/9b2c7a10-0d3f-4c55-8f0e-4dd1b7c0a001/resourceGroups/x`,
		`update failed: exit code 1: 0 created, 1 error; v1.0.3 at 10.0.0.1 took 1.5s: must be true or false, is null`,
		`urn:pulumi:production::app::kubernetes:core/v1:Namespace::default: the stack is currently locked by 1 lock(s)`,
	} {
		NewWithT(t).Expect(m.Apply(text)).To(Equal(text))
	}
	for _, text := range []string{"canary-kubetoken", "MIICanarycanarycanary1234", "-----BEGIN PRIVATE KEY-----", usualAccount, usualKubeconfig,
		"TFMwdExTMUNSVWRKVGlCUVVrbFdRVlJGSUV0RldTMHRMUzB0", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t", "-----BEGIN PRIVATE KEY-----"} {
		NewWithT(t).Expect(m.Apply("is <"+text+">")).To(Equal("is <***>"), text)
	}
}

func TestNamesOfSecrets(t *testing.T) {
	for means, names := range map[meaning]string{
		namesSecret: "password dbPassword DB_PASSWORD dbpassword pass userPass pwd token accessToken ACCESS_TOKEN tokens passwords clientSecret " +
			"apiKey api_key APIKey apikey client-key-data aws_secret_access_key private_key X-Amz-Signature sig passphrase passphrases psk wpa-psk credentials password2 PGPASSWORD",
		namesKey:     "key keys auth authKeys Authorization",
		namesPlain:   "tokenType apiKeyRegion secretName aws_access_key_id token_uri password_path keyId namespace host clusterName",
		namesNothing: "primaryKey primaryMasterKey design assigned keyboard monkey compass bypass passenger passive data value passage sigma hockey - 42",
	} {
		for name := range strings.FieldsSeq(names) {
			NewWithT(t).Expect(meaningOf(name)).To(Equal(means), name)
		}
	}
}

type patternsOf = map[string][]string
