// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/base64"
	"errors"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// gcp has what WordPress on a cluster with a CloudSQL database needs.
func gcp() Package {
	const settings, nodes = "gcp:sql/DatabaseInstanceSettings:DatabaseInstanceSettings", "gcp:container/NodePoolNodeConfig:NodePoolNodeConfig"
	const auth, condition = "gcp:container/ClusterMasterAuth:ClusterMasterAuth", "gcp:projects/IAMMemberCondition:IAMMemberCondition"
	return Package{
		Name: "gcp", Version: "6.67.0",
		Config: map[string]Property{"project": optional(text), "region": optional(text), "credentials": {Type: text, Secret: true}},
		Types: map[string]map[string]Property{
			settings: {"tier": required(text), "availabilityType": optional(text)},
			nodes: {"preemptible": optional(boolean), "machineType": optional(text), "serviceAccount": optional(text),
				"oauthScopes": optional(listOf(text))},
			auth:      {"clusterCaCertificate": required(text)},
			condition: {"title": required(text), "expression": required(text), "description": optional(text)},
		},
		Resources: map[string]Resource{
			"gcp:serviceaccount/account:Account": {
				Inputs: map[string]Property{"accountId": {Type: text, Required: true, Replaces: true}, "displayName": optional(text),
					"description": optional(text), "project": replacing(text)},
				Outputs: map[string]Output{
					"email":  made(email),
					"member": made(func(t Thing) string { return "serviceAccount:" + email(t) }),
					"name":   made(func(t Thing) string { return "projects/" + t.text("project") + "/serviceAccounts/" + email(t) }),
				},
			},
			"gcp:serviceaccount/key:Key": {
				Inputs: map[string]Property{"serviceAccountId": {Type: text, Required: true, Replaces: true}, "publicKeyType": replacing(text)},
				Outputs: map[string]Output{
					"name":       made(func(t Thing) string { return t.text("serviceAccountId") + "/keys/" + t.ID }),
					"privateKey": secret(privateKey),
				},
			},
			"gcp:projects/iAMMember:IAMMember": {
				Inputs: map[string]Property{"project": {Type: text, Required: true, Replaces: true},
					"member": {Type: text, Required: true, Replaces: true}, "role": {Type: text, Required: true, Replaces: true},
					"condition": replacing(objectOf(condition))},
				Outputs: map[string]Output{"etag": made(func(t Thing) string { return t.ID })},
			},
			"gcp:sql/databaseInstance:DatabaseInstance": {
				Protected: true,
				Inputs: map[string]Property{"name": replacing(text), "databaseVersion": required(text), "region": replacing(text),
					"settings": optional(objectOf(settings)), "deletionProtection": optional(boolean), "project": replacing(text)},
				Outputs: map[string]Output{
					"name":           made(func(t Thing) string { return t.ID }),
					"connectionName": made(func(t Thing) string { return t.text("project") + ":" + t.text("region") + ":" + t.ID }),
				},
			},
			"gcp:sql/database:Database": {
				Inputs: map[string]Property{"name": replacing(text), "instance": {Type: text, Required: true, Replaces: true},
					"charset": optional(text), "project": replacing(text)},
				Outputs: map[string]Output{"name": made(func(t Thing) string { return t.ID })},
			},
			"gcp:sql/user:User": {
				Inputs: map[string]Property{"name": replacing(text), "instance": {Type: text, Required: true, Replaces: true},
					"password": {Type: text, Secret: true}, "host": replacing(text), "project": replacing(text)},
				Outputs: map[string]Output{"name": made(func(t Thing) string { return t.ID })},
			},
			// It is protected since version 7 of the real package, which programs that name no version get.
			"gcp:container/cluster:Cluster": {
				Protected: true,
				Inputs: map[string]Property{"name": replacing(text), "location": replacing(text), "initialNodeCount": replacing(integer),
					"removeDefaultNodePool": optional(boolean), "deletionProtection": optional(boolean), "project": replacing(text)},
				Outputs: map[string]Output{
					"name":     made(func(t Thing) string { return t.ID }),
					"endpoint": made(func(Thing) string { return "203.0.113.8" }),
					"masterAuth": {Property: optional(objectOf(auth)), Of: func(t Thing) property.Value {
						return property.New(map[string]property.Value{
							"clusterCaCertificate": property.New(base64.StdEncoding.EncodeToString([]byte(t.ID)))})
					}},
				},
			},
			"gcp:container/nodePool:NodePool": {
				Inputs: map[string]Property{"cluster": {Type: text, Required: true, Replaces: true}, "location": replacing(text),
					"name": replacing(text), "nodeCount": optional(integer), "nodeConfig": replacing(objectOf(nodes)), "project": replacing(text)},
				Outputs: map[string]Output{"name": made(func(t Thing) string { return t.ID })},
			},
		},
		Open: openGCP,
	}
}

// openGCP requires the configuration that the real package requires.
func openGCP(config property.Map) (Place, error) {
	if !config.Get("project").IsString() {
		return nil, errors.New("no project is given: set gcp:project")
	}
	if os.Getenv("GOOGLE_CREDENTIALS") == "" && config.Get("credentials").IsNull() {
		return nil, errors.New("no credentials are given: set GOOGLE_CREDENTIALS")
	}
	return openDirectory()
}

func email(t Thing) string {
	return t.text("accountId") + "@" + t.text("project") + ".iam.gserviceaccount.com"
}

// privateKey is the key file, in the format of the real package.
func privateKey(t Thing) string {
	return base64.StdEncoding.EncodeToString([]byte(`{"type":"service_account","private_key_id":"` + t.ID + `"}`))
}
