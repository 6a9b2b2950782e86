// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"testing"

	. "github.com/onsi/gomega"
)

const (
	usualHelmValues = `global:
  imageRegistry: registry.example.com
  imagePullSecrets: [registry-login]
  storageClass: gp3-encrypted
image:
  repository: bitnami/postgresql
  tag: 15.4.0-debian-11-r45
  digest: sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945
  pullPolicy: IfNotPresent
auth:
  enablePostgresUser: true
  postgresPassword: zq-Pw77
  username: orders
  database: orders_prod
  existingSecret: postgres-logins
  secretKeys: {adminPasswordKey: postgres-password, userPasswordKey: password}
primary:
  resources: {limits: {cpu: 1500m, memory: 2Gi}, requests: {cpu: 250m, memory: 512Mi}}
  nodeSelector: {kubernetes.io/os: linux, node.kubernetes.io/instance-type: m5.2xlarge}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: topology.kubernetes.io/zone
  persistence: {size: 100Gi, accessModes: [ReadWriteOnce], snapshot: snap-0123456789abcdef0}
  podAnnotations: {iam.amazonaws.com/role: "arn:aws:iam::123456789012:role/orders-db", checksum/config: 20260101T000000Z}
metrics: {enabled: true, serviceMonitor: {interval: 30s, labels: {release: kube-prometheus-stack}}}
ingress:
  hosts: [{host: orders.eu1.example.com, paths: [{path: /api/v1, pathType: Prefix}]}]
  tls: [{secretName: orders-tls-cert, hosts: [orders.eu1.example.com]}]
backup: {schedule: "0 3 * * *", retention: 30d, bucket: acme-backup-x7f3k2b9, expires: 2027-01-01T00:00:00Z}
tokenExpirationSeconds: 3600
env:
- {name: TZ, value: Europe/Berlin}
- {name: API_TOKEN, value: zq-Tok88}
`
	usualVariables = `# terraform.tfvars
region         = "eu-central-1"
account        = "123456789012"
bucket         = "acme-prod-1"
cidr           = "10.0.0.0/16"
subnets        = ["subnet-0a1b2c3d4e5f60718", "subnet-0a1b2c3d4e5f60719"]
azs            = ["eu-central-1a", "eu-central-1b"]
instance_class = "db.t3.medium"
ami            = "ami-0abcdef1234567890"
hash_key       = "LockID"
db_password    = "zq-Pw77"
tags = {
  team        = "payment"
  cost_center = "CC-4711"
  created     = "2026-01-01"
}
kubernetes_version = "1.28.5-eks-5e0fdde"
role_arn           = "arn:aws:iam::123456789012:role/deployer"
`
	usualEnvironment = `NODE_ENV=production
PORT=8080
TZ=Europe/Berlin
IMAGE_TAG=v1.25.3-rc1
AWS_ACCOUNT=123456789012
GREETING=hello world
LOG_LEVEL=debug
DATE=2026-01-01
CACHE_TTL=3600
DB_CLASS=db.t3.medium
API_VERSION=2023-08-01-preview
CIPHERS=ECDHE-RSA-AES128-GCM-SHA256
export DATABASE_PASSWORD="zq-Pw77"
SESSION_SECRET=zq-Tok88
COMMIT=4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d
TENANT=9b2c7a10-0d3f-4c55-8f0e-4dd1b7c0a001
SIZE=Standard_D4s_v3
`
)

// Most settings stored next to a password are not secret, and appear in errors.
func TestSettingsBesideASecretStayReadable(t *testing.T) {
	m := New([]string{usualHelmValues, usualVariables, usualEnvironment, "[profile prod]\nregion = eu-central-1\nrole = deployer\n"})
	for _, text := range []string{
		`Failed to pull image "registry.example.com/bitnami/postgresql:15.4.0-debian-11-r45": not found, using registry-login, IfNotPresent`,
		"pulling bitnami/postgresql@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
		`Secret "postgres-logins" has no key postgres-password, and password authentication failed for user orders on database "orders_prod"`,
		`0/3 nodes are available: insufficient cpu 1500m, memory 2Gi, 512Mi; no m5.2xlarge in topology.kubernetes.io/zone`,
		`persistentvolumeclaim: storageclass "gp3-encrypted" with 100Gi ReadWriteOnce from snap-0123456789abcdef0`,
		`AccessDenied: arn:aws:iam::123456789012:role/orders-db is not authorized to perform s3:PutObject on bucket acme-backup-x7f3k2b9`,
		`Secret "orders-tls-cert" for orders.eu1.example.com/api/v1 expires at 2027-01-01T00:00:00Z, 20260101T000000Z, in 3600 seconds`,
		`labels: release=kube-prometheus-stack, 30s, 30d, 0 3 * * *`,
		`BucketAlreadyExists: acme-prod-1 in eu-central-1 of 123456789012; 10.0.0.0/16 overlaps with subnet-0a1b2c3d4e5f60718 in eu-central-1a`,
		`InvalidParameterValue: db.t3.medium and ami-0abcdef1234567890 are not in eu-central-1b; LockID is no attribute; team payment, CC-4711 since 2026-01-01`,
		`unsupported Kubernetes version 1.28.5-eks-5e0fdde; arn:aws:iam::123456789012:role/deployer may not sts:AssumeRole`,
		`bucket acme-prod-1 in Europe/Berlin: v1.25.3-rc1 says hello world on port 8080 in production at debug, 2023-08-01-preview`,
		`no cipher of ECDHE-RSA-AES128-GCM-SHA256; commit 4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d in tenant 9b2c7a10-0d3f-4c55-8f0e-4dd1b7c0a001, Standard_D4s_v3`,
		`tags = {`, `[profile prod]`, `primary: auth: env: tls:`,
	} {
		NewWithT(t).Expect(m.Apply(text)).To(Equal(text))
	}
	for _, text := range []string{"zq-Pw77", "zq-Tok88"} {
		NewWithT(t).Expect(m.Apply("is " + text + ".")).To(Equal("is ***."))
	}
}

// Prose and programs also contain names and colons.
func TestWordsOfProseStayReadable(t *testing.T) {
	m := New([]string{
		"# How to use it\nThe secret: only the owner has the key: the value of it is a string.\nPasswords: see below, and the token: type it in.\nnote: hello\n",
		"func f() {\n\tfor secret := range keys {\n\t\tcall(token, Config{Token: name, Key: value})\n\t}\n}\n",
		"resources:\n  a: {type: kubernetes:core/v1:ConfigMap}\n  b: {type: aws:ec2:SecurityGroup}\n", "nginx:1.25.3", "db.example.com:5432",
	})
	const text = "range of keys: only the owner may see the type string, the name and the value of v1:ConfigMap in ec2:SecurityGroup, below 1.25.3 on 5432"
	NewWithT(t).Expect(m.Apply(text)).To(Equal(text))
}

func TestWhatLooksRandom(t *testing.T) {
	for text, want := range map[string]bool{
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a": true, "hunter2hunter2": true, "p!ssw0rd": true, "a1b2c3d4e5f6": true, "3f2504e0-4f89-11d3-9a0c-0305e82c3301": true,
		"AKIAIOSFODNN7EXAMPLE": true, "sk_live_4eC39HqLyjWDarjtT1zdp7dc": true, "xoxb-2444333222111-a1b2cdEFGH5678": true, "wJalr7XUtn3FEMIK7MDENG/bPxRfiCY": true,
		"the key a1b2c3d4e5f6g7h8 of it": true, "-----BEGIN PRIVATE KEY-----": true,
		"production": false, "acme-prod-1": false, "10.0.0.0/16": false, "nginx:1.25.3": false, "v1.25.3-rc1": false, "2026-01-01": false, "Europe/Berlin": false,
		"123456789012": false, "arn:aws:iam::123456789012:role/deployer": false, "db.t3.medium": false, "hello world": false, "m5.24xlarge": false, "i-0abcdef1234567890": false,
		"2026-01-01T10:11:12Z": false, "Standard_DS3_v2": false, "postgres15": false, "*.db1.example.com": false, ">=1.20.0-rc1": false, "${DB1_HOST}": false, "": false,
		"https://x.example.com/?a=b1&c=d2": false, "node-20": false, "utf8mb4_general_ci": false, "image@sha256:4f53cda18c2baa0c0354": false,
	} {
		NewWithT(t).Expect(newParts().isRandom(text)).To(Equal(want), text)
	}
}
