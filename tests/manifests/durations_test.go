// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestManifestsDurationsCanBeDecoded: a single duration that the API server accepts and Go cannot decode would fail
// each list of Stacks, and so every Stack of the cluster.
func TestManifestsDurationsCanBeDecoded(t *testing.T) {
	for _, version := range readCRDs(t)["Stack"].Spec.Versions {
		spec := version.Schema.OpenAPIV3Schema.Properties["spec"].Properties
		for name, field := range map[string]apiextensionsv1.JSONSchemaProps{
			"interval": spec["interval"], "retryInterval": spec["retryInterval"], "timeout": spec["timeout"],
			"succeededWithinDuration": spec["prerequisites"].Items.Schema.Properties["requirement"].Properties["succeededWithinDuration"],
		} {
			t.Run(version.Name+"/"+name, func(t *testing.T) {
				accepted, most := durationRule(t, field)
				tried := 0
				for _, text := range durationTexts() {
					if int64(len(text)) > most || !accepted.MatchString(text) {
						continue
					}
					tried++
					var d metav1.Duration
					if err := json.Unmarshal([]byte(`"`+text+`"`), &d); err != nil || d.Duration < 0 {
						t.Errorf("the CRD accepts %s, which is decoded as %s (%v)", text, d.Duration, err)
					}
				}
				NewWithT(t).Expect(tried).To(BeNumerically(">", 1000))
			})
		}
	}
}

// durationRule returns the regular expression and the maximum length of a field.
func durationRule(t *testing.T, field apiextensionsv1.JSONSchemaProps) (*regexp.Regexp, int64) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(field.MaxLength).NotTo(BeNil())
	for _, rule := range field.XValidations {
		if match := regexp.MustCompile(`self\.matches\('([^']+)'\)`).FindStringSubmatch(rule.Rule); match != nil {
			return regexp.MustCompile(match[1]), *field.MaxLength
		}
	}
	t.Fatal("no rule bounds the duration")
	return nil, 0
}

// durationTexts are the longest durations of each kind, and many random ones.
func durationTexts() []string {
	units := []string{"ms", "s", "m", "h"}
	var texts []string
	for _, unit := range units {
		for digits := 1; digits <= 12; digits++ {
			for _, fraction := range []string{"", ".999999999"} {
				for parts := 1; parts <= 10; parts++ {
					texts = append(texts, strings.Repeat(strings.Repeat("9", digits)+fraction+unit, parts))
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	number := func(most int) string {
		digits := make([]byte, 1+random.IntN(most))
		for i := range digits {
			digits[i] = byte('0' + random.IntN(10))
		}
		return string(digits)
	}
	for range 50_000 {
		var text strings.Builder
		for range 1 + random.IntN(9) {
			text.WriteString(number(11))
			if random.IntN(2) == 0 {
				text.WriteString("." + number(10))
			}
			text.WriteString(units[random.IntN(len(units))])
		}
		texts = append(texts, text.String())
	}
	return texts
}
