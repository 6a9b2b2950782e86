// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"crypto/rand"
	"math/big"

	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// random has what passwords are made of. Its resources exist only in the state.
func random() Package {
	texts := map[string]Property{
		"length": {Type: integer, Required: true, Replaces: true}, "special": replacing(boolean),
		"overrideSpecial": replacing(text), "keepers": replacing(mapOf(text)),
	}
	return Package{
		Name: "random", Version: "4.16.0",
		Resources: map[string]Resource{
			"random:index/randomPassword:RandomPassword": {Inputs: texts, Outputs: map[string]Output{"result": secret(randomText)}},
			// The ID of a pet is its name.
			"random:index/randomPet:RandomPet": {
				Inputs: map[string]Property{"length": {Type: integer, Replaces: true}, "prefix": replacing(text),
					"separator": replacing(text), "keepers": replacing(mapOf(text))},
				Prefix: "steady-heron",
			},
			"random:index/randomString:RandomString": {Inputs: texts, Outputs: map[string]Output{"result": once(made(randomText))}},
			"random:index/randomInteger:RandomInteger": {
				Inputs: map[string]Property{"min": {Type: integer, Required: true, Replaces: true},
					"max": {Type: integer, Required: true, Replaces: true}, "keepers": replacing(mapOf(text))},
				Outputs: map[string]Output{"result": once(Output{Property: optional(integer), Of: randomInteger})},
			},
		},
		Open: func(property.Map) (Place, error) { return nowhere{}, nil },
	}
}

// once marks an output that keeps its first value.
func once(output Output) Output {
	output.Once = true
	return output
}

// randomText returns a text of the requested length.
func randomText(t Thing) string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789"
	text := make([]byte, int(t.Inputs.Get("length").AsNumber()))
	_, _ = rand.Read(text) // it never fails
	for i := range text {
		text[i] = letters[int(text[i])%len(letters)]
	}
	return string(text)
}

func randomInteger(t Thing) property.Value {
	least, most := int64(t.Inputs.Get("min").AsNumber()), int64(t.Inputs.Get("max").AsNumber())
	if most <= least {
		return property.New(float64(least))
	}
	more, err := rand.Int(rand.Reader, big.NewInt(most-least+1))
	if err != nil {
		return property.New(float64(least))
	}
	return property.New(float64(least + more.Int64()))
}
