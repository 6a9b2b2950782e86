// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	thingURN = "urn:pulumi:dev::demo::lab:index:Thing::a"
	stackURN = "urn:pulumi:dev::demo::pulumi:pulumi:Stack::demo-dev"
)

func stepLine(kind, op, urn, outputs string) string {
	return fmt.Sprintf(`{"%s":{"metadata":{"op":%q,"urn":%q,"type":%q,"logical":true,"old":{"custom":true,"id":"1"},"new":{"custom":true,"id":"1","outputs":%s}}}}`,
		kind, op, urn, strings.Split(urn, "::")[2], outputs)
}

func diagLine(severity, urn, message string) string {
	text, _ := json.Marshal(message)
	return fmt.Sprintf(`{"diagnosticEvent":{"urn":%q,"severity":%q,"message":%s}}`, urn, severity, text)
}

func readAll(e *events, all ...string) []string {
	var said []string
	var l lines
	for _, line := range all {
		l.feed([]byte(line+"\n"), func(line []byte) {
			if text := e.read(line); text != "" {
				said = append(said, text)
			}
		}, func() { said = append(said, "too long") })
	}
	return said
}

func TestEventsTellWhatIsLogged(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"the start of an operation":          {stepLine("resourcePreEvent", "create", thingURN, "{}"), "lab:index:Thing (a): create started"},
		"the end of one":                     {stepLine("resOutputsEvent", "update", thingURN, "{}"), "lab:index:Thing (a): update done"},
		"a failed one":                       {stepLine("resOpFailedEvent", "delete", thingURN, "{}"), "lab:index:Thing (a): delete failed"},
		"nothing of what is as it should be": {stepLine("resOutputsEvent", "same", thingURN, "{}"), ""},
		"nothing of the stack itself":        {stepLine("resOutputsEvent", "create", stackURN, "{}"), ""},
		"an error with its resource":         {diagLine("error", thingURN, "error: boom\n\n"), "lab:index:Thing (a): error: boom"},
		"a warning":                          {diagLine("warning", "", "look out\n"), "warning: look out"},
		"no values of a violated plan": {
			diagLine("error", thingURN, "resource "+thingURN+" violates plan: properties changed: ~~secretValue[{&{{hush}}}!={&{{another}}}], ++b[{hush}]\n"),
			"lab:index:Thing (a): error: resource " + thingURN + " violates plan: properties changed: ~~secretValue...",
		},
		"that an import violates its plan": {diagLine("error", thingURN, "resource x violates plan: it is new"), "lab:index:Thing (a): error: resource x violates plan: it is new"},
		"what the program prints":          {diagLine("info#err", stackURN, "\x1b[1mhello\x1b[0m\n"), "hello"},
		"nothing for debugging":            {diagLine("debug", "", "Registering"), ""},
		"that an event is lost":            {"{", "an event of Pulumi cannot be read"},
		"nothing of what is not known":     {`{"newEvent":{}}`, ""},
		"a policy":                         {`{"policyEvent":{"message":"no","policyName":"p","policyPackName":"k","enforcementLevel":"mandatory"}}`, "policy p of k: no"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(strings.Join(readAll(&events{mask: mask.New(nil)}, test.line), "|")).To(Equal(test.want))
		})
	}
}

func TestAPreviewLogsWhatIsPlanned(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"the start of a step": {stepLine("resourcePreEvent", "create", thingURN, "{}"), ""},
		"the end of one":      {stepLine("resOutputsEvent", "update", thingURN, "{}"), "lab:index:Thing (a): update planned"},
		"a refresh":           {stepLine("resOutputsEvent", "refresh", thingURN, "{}"), "lab:index:Thing (a): refresh done"},
		"a read":              {stepLine("resOutputsEvent", "read", thingURN, "{}"), "lab:index:Thing (a): read done"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &events{mask: mask.New(nil), preview: true}
			NewWithT(t).Expect(strings.Join(readAll(e, test.line), "|")).To(Equal(test.want))
		})
	}
}

// When a refresh runs the program, default providers get new settings each time, which
// the engine's summary does not count.
// The host of Node.js registers the stack before it compiles the program.
func TestAProgramIsAwaitedUntilItRegistersAResource(t *testing.T) {
	registered := stepLine("resourcePreEvent", "create", stackURN, "{}")
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"before anything":                 {nil, run.StartingProgram},
		"after the stack":                 {[]string{registered}, run.StartingProgram},
		"what it prints":                  {[]string{registered, diagLine("info#out", stackURN, "hello")}, run.StartingProgram},
		"a resource that does not change": {[]string{registered, stepLine("resourcePreEvent", "same", thingURN, "{}")}, ""},
		"the end of an empty program":     {[]string{registered, stepLine("resOutputsEvent", "create", stackURN, "{}")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := events{mask: mask.New(nil), startsProgram: true}
			readAll(&e, test.lines...)
			NewWithT(t).Expect(e.progress().Waiting).To(Equal(test.want))
		})
	}
}

func TestDriftIsDistinguishedFromProviderSettings(t *testing.T) {
	const (
		standard = "urn:pulumi:dev::demo::pulumi:providers:lab::default_0_1_0"
		explicit = "urn:pulumi:dev::demo::pulumi:providers:lab::prov"
	)
	done := func(op, urn string) string { return stepLine("resOutputsEvent", op, urn, "{}") }
	summary := func(counts string) string { return `{"summaryEvent":{"resourceChanges":{` + counts + `}}}` }
	for name, test := range map[string]struct {
		events []string
		want   bool
	}{
		"a default provider":        {[]string{done("update", standard), summary(`"same":2`)}, true},
		"a provider of the program": {[]string{done("update", explicit), summary(`"same":2,"update":1`)}, true},
		"both":                      {[]string{done("update", standard), done("update", explicit), summary(`"same":2,"update":1`)}, true},
		"a thing that is gone":      {[]string{done("delete", thingURN), summary(`"same":2,"delete":1`)}, false},
		"a thing that is gone, and a default provider": {[]string{done("delete", thingURN), done("update", standard), summary(`"same":2,"delete":1`)}, false},
		"a thing that was changed, and one":            {[]string{done("update", thingURN), done("update", standard), summary(`"same":2,"update":1`)}, false},
		"a thing that was changed, and another":        {[]string{done("update", thingURN), done("update", explicit), summary(`"same":2,"update":2`)}, false},
		"what the events do not report":                {[]string{done("update", standard), summary(`"same":2,"update":1`)}, false},
		"nothing that is known":                        {[]string{done("update", explicit)}, false},
	} {
		e := &events{mask: mask.New(nil)}
		readAll(e, test.events...)
		NewWithT(t).Expect(e.onlyProvidersChanged()).To(Equal(test.want), name)
	}
}

func TestEventsKeepTheOutputs(t *testing.T) {
	g := NewWithT(t)
	e := &events{mask: mask.New(nil)}
	secret := `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}`
	readAll(e, stepLine("resOutputsEvent", "same", stackURN,
		`{"big":9007199254740993,"s":`+secret+`,"n":{"a":[`+secret+`],"b":"x<y"},"m":"my hunter2 text","k":{"hunter2":1}}`))
	g.Expect(showOutputs(e.outputs, mask.New([]string{"hunter2"}), nil)).To(Equal(map[string]json.RawMessage{
		"big": json.RawMessage(`9007199254740993`),
		"s":   json.RawMessage(`"[secret]"`),
		"n":   json.RawMessage(`{"a":["[secret]"],"b":"x<y"}`),
		"m":   json.RawMessage(`"my *** text"`),
		"k":   json.RawMessage(`{"***":1}`),
	}))
}

func TestOutputsAreBounded(t *testing.T) {
	g := NewWithT(t)
	outputs := map[string]json.RawMessage{}
	for i := range 100 {
		outputs[fmt.Sprintf("o%03d", i)] = quote(strings.Repeat("x", 10<<10))
	}
	outputs["a"] = quote(strings.Repeat("x", maxOutput))
	shown := showOutputs(outputs, mask.New(nil), nil)
	total := 0
	for _, text := range shown {
		total += len(text)
	}
	g.Expect(total).To(BeNumerically("<=", maxOutputs))
	g.Expect(string(shown["a"])).To(ContainSubstring("too big to show"))
	g.Expect(showOutputs(nil, mask.New(nil), nil)).To(BeNil())
}

func TestASecretIsMaskedBeforeATextIsCut(t *testing.T) {
	g := NewWithT(t)
	e := &events{mask: mask.New([]string{"topsecretvalue"})}
	readAll(e, diagLine("error", "", strings.Repeat("x", maxMessage-8)+"topsecretvalue"))
	g.Expect(e.errors[0].text).NotTo(ContainSubstring("top"))
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(stepLine("resOutputsEvent", "create", thingURN, `{"a":1}`)+"\n"), 3)
	f.Add([]byte(diagLine("info#err", thingURN, "Error: x")+"\n"+diagLine("info#err", "", "  on")+"\n"), 100)
	f.Add([]byte(stepLine("resOutputsEvent", "delete-replaced", thingURN, `{}`)+"\n"+stepLine("resOpFailedEvent", "create-replacement", thingURN, `{}`)+"\n"), 7)
	f.Add([]byte(`{"summaryEvent":{"resourceChanges":{"same":-1}}}`+"\n"), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		e := &events{mask: mask.New([]string{"secret"})}
		var l lines
		for len(text) > 0 {
			n := min(max(size, 1), len(text))
			l.feed(text[:n], func(line []byte) { e.read(line) }, func() {})
			text = text[n:]
		}
		for _, n := range []int{e.changes().Created, e.changes().Deleted, e.changes().Replaced, e.changes().Same, e.changes().Retained} {
			if n < 0 {
				t.Errorf("%+v", e.changes())
			}
		}
		for name, output := range showOutputs(e.outputs, e.mask, nil) {
			if !json.Valid(output) {
				t.Errorf("output %s is not JSON: %s", name, output)
			}
		}
		for _, d := range e.errors {
			if len(d.text) > maxMessage {
				t.Errorf("an error of %d bytes", len(d.text))
			}
		}
	})
}
