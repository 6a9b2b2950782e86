// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// thing is a resource of the program.
type thing struct {
	name, value string
	// delays by operation, in the format of the lab provider. Nil is none.
	delays map[string]string
	// after is the name of the thing that this one depends on, if any.
	after string
	// hang is the operation that does not end until it is cancelled, if any, and hold the
	// one that waits until the cloud is released.
	hang, hold string
	// providerIn is the cloud of a separate provider, and so a separate process. Empty is
	// the provider that the others share.
	providerIn string
}

// things returns a number of things that take 600 ms each.
func things(count int, value string) []thing {
	var all []thing
	for n := range count {
		all = append(all, thing{
			name: fmt.Sprintf("thing-%d", n), value: value,
			delays: map[string]string{"create": "300ms", "afterCreate": "300ms", "update": "600ms", "delete": "600ms"},
		})
	}
	return all
}

// byFours makes the things be created four at a time.
func byFours(all []thing) []thing {
	const width = 4
	for n := width; n < len(all); n++ {
		all[n].after = all[n-width].name
	}
	return all
}

// slow returns one thing with a slow creation.
func slow(create string) []thing {
	return []thing{{name: "slow", value: "one", delays: map[string]string{"create": create}}}
}

// quick returns a number of things that take no time.
func quick(count int, value string) []thing {
	var all []thing
	for n := range count {
		all = append(all, thing{name: fmt.Sprintf("quick-%d", n), value: value})
	}
	return all
}

// program returns a program with the things.
func program(all []thing) v1.ProgramSpec {
	spec := v1.ProgramSpec{Resources: map[string]v1.Resource{}}
	for _, t := range all {
		properties := map[string]any{"name": t.name, "value": t.value}
		if t.delays != nil {
			properties["delays"] = t.delays
		}
		if t.hang != "" {
			properties["hang"] = t.hang
		}
		if t.hold != "" {
			properties["hold"] = t.hold
		}
		resource := v1.Resource{Type: "lab:Thing", Properties: ptr.To(raw(properties))}
		if t.providerIn != "" {
			resource.Options = &v1.ResourceOptions{Provider: ptr.To(raw("${of-" + t.name + "}"))}
			spec.Resources["of-"+t.name] = v1.Resource{
				Type: "pulumi:providers:lab", Properties: ptr.To(raw(map[string]any{"directory": t.providerIn})),
			}
		}
		if t.after != "" {
			resource.Options = &v1.ResourceOptions{DependsOn: ptr.To(raw([]string{"${" + t.after + "}"}))}
		}
		spec.Resources[t.name] = resource
	}
	return spec
}

func raw(value any) apiextensionsv1.JSON {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings and maps of strings can always be marshalled
	}
	return apiextensionsv1.JSON{Raw: text}
}
