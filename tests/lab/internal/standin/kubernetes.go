// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
)

// kubernetes has a few kinds for programs in YAML, and all others for files and for programs that check nothing against the
// schema, as objects of the API server of the kubeconfig. It does not wait until they are ready. A provider with a kubeconfig of its
// own reaches the same API server, as it may be that of a cluster that only a stand-in has made, but one with the path of a
// kubeconfig reaches that.
func kubernetes() Package {
	const meta = "kubernetes:meta/v1:ObjectMeta"
	texts := mapOf(text)
	object := func(inputs map[string]Property) Resource {
		inputs["apiVersion"], inputs["kind"], inputs["metadata"] = optional(text), optional(text), optional(objectOf(meta))
		return Resource{Inputs: inputs, Outputs: map[string]Output{
			"metadata": {Property: optional(objectOf(meta)), Merges: true, Of: metadata},
		}}
	}
	other := object(map[string]Property{})
	other.Free = true
	return Package{
		Name: "kubernetes", Version: "4.18.0",
		Config: map[string]Property{"namespace": optional(text), "kubeconfig": {Type: text, Secret: true}},
		Types: map[string]map[string]Property{meta: {
			"name": optional(text), "namespace": optional(text), "labels": optional(texts), "annotations": optional(texts),
		}},
		Resources: map[string]Resource{
			"kubernetes:core/v1:Secret": object(map[string]Property{
				"type": replacing(text), "data": {Type: texts, Secret: true}, "stringData": {Type: texts, Secret: true}}),
			"kubernetes:core/v1:ConfigMap":  object(map[string]Property{"data": optional(texts)}),
			"kubernetes:core/v1:Service":    object(map[string]Property{"spec": optional(anyJSON)}),
			"kubernetes:apps/v1:Deployment": object(map[string]Property{"spec": optional(anyJSON)}),
		},
		Other:      &other,
		Components: map[string]provider.ConstructFunc{"kubernetes:yaml/v2:ConfigFile": configFile},
		Open:       openCluster,
	}
}
