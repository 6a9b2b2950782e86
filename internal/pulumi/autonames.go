// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

const (
	// minRandom is the least number of random characters that stand for themselves. The bridge to
	// Terraform providers has 7, Kubernetes and the SDK have 8.
	minRandom = 7
	// minRandomOfName is the least number at the end of a name, which stand for the name as a whole,
	// if a pattern of pulumi:autonaming asks for so few.
	minRandomOfName = 4
)

// autonames are the random parts of the names that providers make up for new resources. Those
// differ in each preview, in all that is made from the name as well, while the change is the
// same. A random part follows from the seed that the engine gives to the resource and that its
// plan has, so that nothing that a program chooses can be taken for one.
type autonames struct {
	// least is how many random characters at the end of a name stand for the name.
	least int
	// byText are the URNs of the resources by what stands for the random part.
	byText map[string]string
	// shown and summed replace all of them, nil for none.
	shown, summed *strings.Replacer
}

// learn looks for the random part in the properties of a new resource.
func (a *autonames) learn(urn string, seed []byte, properties ...map[string]json.RawMessage) {
	if len(seed) == 0 || len(a.byText) >= maxKeptGoals {
		return // the plan of so many is another one each time
	}
	random := randomTexts(seed)
	for _, one := range properties {
		for _, raw := range one {
			value, _ := decoded(raw)
			a.learnFrom(urn, random, value)
		}
	}
}

func (a *autonames) learnFrom(urn string, random []string, value any) {
	switch value := value.(type) {
	case string:
		for _, text := range random {
			if found := randomPart(value, text, a.least); found != "" {
				if a.byText == nil {
					a.byText = map[string]string{}
				}
				a.byText[found] = urn
			}
		}
	case []any:
		for _, inner := range value {
			a.learnFrom(urn, random, inner)
		}
	case map[string]any:
		for _, inner := range value {
			a.learnFrom(urn, random, inner)
		}
	}
}

// randomPart is what in a text stands for the random characters, "" if it has none of them. At the
// end of a name, the least number of them is enough.
func randomPart(text, random string, least int) string {
	for from := 0; ; from++ {
		at := strings.Index(text[from:], random[:least])
		if at < 0 {
			return ""
		}
		from += at
		length := least
		for length < len(random) && from+length < len(text) && text[from+length] == random[length] {
			length++
		}
		end := from + length
		switch {
		case length >= minRandom:
			return text[from:end]
		case end == len(text) && end >= minRandom && isPlainName(text):
			return text
		}
	}
}

// isPlainName reports whether a text is the same in JSON.
func isPlainName(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) })
}

// settle prepares for replacing, once all are learned, and reports whether there are any.
func (a *autonames) settle() bool {
	texts := make([]string, 0, len(a.byText))
	for text := range a.byText {
		texts = append(texts, text)
	}
	// Longer ones come first: a name has its random part in it.
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var shown, summed []string
	for _, text := range texts {
		shown = append(shown, text, plan.Unknown)
		summed = append(summed, text, "\x00autoname of "+a.byText[text]+"\x00")
	}
	a.shown, a.summed = strings.NewReplacer(shown...), strings.NewReplacer(summed...)
	return a.any()
}

func (a *autonames) any() bool { return a != nil && len(a.byText) > 0 }

// show replaces the random parts in a text for a person, and reports whether it has any.
func (a *autonames) show(text string) (string, bool) {
	if !a.any() {
		return text, false
	}
	shown := a.shown.Replace(text)
	return shown, shown != text
}

// showIn replaces them in the texts of a value in JSON. A number stays what it is.
func (a *autonames) showIn(raw json.RawMessage) (json.RawMessage, bool) {
	if _, hasAny := a.show(string(raw)); !hasAny {
		return raw, false
	}
	value, _ := decoded(raw)
	shown := quote(a.shownValue(value))
	return shown, string(shown) != string(raw)
}

func (a *autonames) shownValue(value any) any {
	switch value := value.(type) {
	case string:
		return a.shown.Replace(value)
	case []any:
		for n := range value {
			value[n] = a.shownValue(value[n])
		}
	case map[string]any:
		shown := make(map[string]any, len(value))
		for _, name := range slices.Sorted(maps.Keys(value)) {
			shown[a.shown.Replace(name)] = a.shownValue(value[name])
		}
		return shown
	}
	return value
}

// sum replaces the random parts in a text that is hashed.
func (a *autonames) sum(text string) string {
	if !a.any() {
		return text
	}
	return a.summed.Replace(text)
}
