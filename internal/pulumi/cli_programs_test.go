// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/program"
	"github.com/flux-pulumi/pulumi-controller/internal/program/check"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// Pulumi rejects each Program in which the checks find a fault, and others in which they
// need not find any: Pulumi names those faults before it changes anything, and a name with
// blanks is listed as undeclared.
func TestPulumiRejectsFaultsOfAProgram(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	l.given("{}\n")
	const thing = `a: {type: "lab:index:Thing", properties: {name: a}`
	fn := func(call string) string { return "outputs: {o: {" + call + "}}" }
	for text, want := range map[string]struct{ fault, failure string }{
		// Names.
		`resources: {PROV, "": {type: "lab:index:Thing", properties: {name: a}}}`:                         {"", "cannot be empty"},
		`resources: {PROV, a: {type: "lab:index:Thing", properties: {name: a, "": 1}}}`:                   {"", "does not exist on"},
		`resources: {PROV, ` + thing + `, name: b}, b: {type: "lab:index:Thing", properties: {name: b}}}`: {"has the type and the name", "Duplicate resource URN"},
		`resources: {PROV, a: {type: " lab:index:Thing", properties: {name: a}}}`:                         {"is no type of a resource", "error resolving type"},
		`resources: {PROV, a: {type: "lab:index:Thing ", properties: {name: a}}}`:                         {"is no type of a resource", "unable to find resource type"},
		// Options. If one kills the language host, the engine's error depends on how it
		// notices.
		`resources: {PROV, ` + thing + `, options: {envVarMappings: {A: B}}}}`:                                                                      {"is for providers only", "provider resources"},
		`resources: {PROV, ` + thing + `, options: {hideDiffs: [""]}}}`:                                                                             {"is empty", "an empty property path"},
		`resources: {PROV, ` + thing + `, options: {aliases: [""]}}}`:                                                                               {"is empty", "invalid alias URN"},
		`resources: {PROV, ` + thing + `, options: {aliases: [{urn: ""}]}}}`:                                                                        {"is empty", ""},
		`resources: {PROV, ` + thing + `, options: {version: 1.0.0}}}`:                                                                              {"default provider prov", ""},
		`resources: {PROV, ` + thing + `, options: {pluginDownloadURL: "https://x"}}}`:                                                              {"default provider prov", ""},
		`resources: {VERSIONED, ` + thing + `, options: {version: 1.0.0}}}`:                                                                         {"", "conflicts with the default provider"},
		"resources: {VERSIONED}\nvariables: {v: {'fn::invoke': {function: 'lab:index:nothing', options: {version: 0.1.0}}}}":                        {"", "conflicts with the default provider"},
		`resources: {PROV, ` + thing + `}, b: {type: "lab:index:Thing", properties: {name: b}, options: {dependsOn: "${a}"}}}`:                      {"must be a list of references", "must be a list of resources"},
		`resources: {PROV, ` + thing + `}, b: {type: "lab:index:Thing", properties: {name: b}, options: {dependsOn: ["${a.id}"]}}}`:                 {"is an output of the resource a", "not an output"},
		`resources: {PROV, ` + thing + `}, b: {type: "lab:index:Thing", properties: {name: b}, options: {parent: "${v}"}}}` + "\nvariables: {v: x}": {"is a string", "expected resource, got string"},
		`resources: {PROV, ` + thing + `}, b: {type: "lab:index:Thing", properties: {name: b}, options: {provider: "${a}"}}}`:                       {"must be a reference to a provider", "was not a provider resource"},
		`resources: {PROV, ` + thing + `}, b: {type: "lab:index:Thing", properties: {name: b}, options: {providers: ["${a}"]}}}`:                    {"must be a reference to a provider", "was not a provider resource"},
		`resources: {PROV, ` + thing + `}, b: {type: "lab:index:Thing", properties: {name: b}, options: {protect: "${a.id}"}}}`:                     {"is an output of a resource", "not be an output"},
		`resources: {PROV, ` + thing + `, options: {aliases: [x]}}}`:                                                                                {"is no URN", "invalid alias URN"},
		`resources: {PROV, ` + thing + `, options: {aliases: [{parent: x}]}}}`:                                                                      {"is no URN", "invalid URN"},
		`resources: {PROV, ` + thing + `, options: {aliases: [{parent: "${prov}", noParent: true}]}}}`:                                              {"and noParent cannot both be given", "not more then one"},
		`resources: {q: {type: "pulumi:providers:lab", get: {id: x}}}`:                                                                              {"cannot be given for a provider", ""},
		`resources: {PROV, a: {properties: {name: a}}}`:                                                                                             {"", "Required field 'type' is missing"},
		`resources: {PROV, a: {type: "lab:index:Thing", properties: 5}}`:                                                                            {"", "is not assignable from number"},
		`resources: {PROV, a: {type: "lab:index:Thing", properties: {name: a}, get: {id: x}}}`:                                                      {"", "mutually exclusive"},
		`resources: {PROV, ` + thing + `, defaultProvider: true}}`:                                                                                  {"", "cannot set defaultProvider"},
		`resources: {PROV, ` + thing + `, options: {aliases: [{nam: x}]}}}`:                                                                         {"", "nam"},
		`pulumi: {requiredVersion: foo}`:                                                                                                            {"", "parsing CLI version range"},
		// Options that refer to something evaluated later.
		`resources: {PROV, ` + thing + `, options: {deletedWith: "${b}"}}, b: {type: "lab:index:Thing", properties: {name: b}}}`:           {"refers to b, which Pulumi YAML evaluates later", "could not be found"},
		`resources: {PROV, ` + thing + `, options: {replacementTrigger: "${b.id}"}}, b: {type: "lab:index:Thing", properties: {name: b}}}`: {"refers to b, which Pulumi YAML evaluates later", "could not be found"},
		`resources: {PROV, ` + thing + `, options: {protect: "${v}"}}}` + "\nvariables: {v: true}":                                         {"refers to the variable v", "could not be found"},
		// Defaults, which are evaluated first.
		`config: {c: {type: "List<List<String>>"}}`:                     {"is a list of lists", ""},
		"config: {c: {default: '${v}'}}\nvariables: {v: x}":             {"", "could not be found"},
		`config: {c: {default: "${d}"}, d: {default: x}}`:               {"", "could not be found"},
		`config: {c: {default: x, secret: true}, d: {default: "${c}"}}`: {"", "unexpected configuration type"},
		`config: {c: {default: {"fn::secret": a}}}`:                     {"", "unexpected configuration type"},
		`config: {c: {default: {"fn::assetArchive": {}}}}`:              {"", "unexpected configuration type"},
		`config: {c: {type: Strings}}`:                                  {"", "unexpected configuration type"},
		`config: {c: {secret: true}}`:                                   {"", "unable to infer type"},
		`config: {c: {type: Number, default: x}}`:                       {"", "type mismatch"},
		`config: {c: null}`:                                             {"", "unable to infer type"},
		// References.
		`variables: {a: "${b}", b: "x ${a.c}"}`:     {"", "circular dependency"},
		"resources: {PROV}\nvariables: {prov: 1}":   {"", "cannot have the same name"},
		"variables: {pulumi: 1}":                    {"", "uses the reserved name pulumi"},
		`outputs: {o: "${pulumi.nope}"}`:            {"", "does not exist on pulumi"},
		`outputs: {o: "${pulumi.stack.x}"}`:         {"", "cannot access a property"},
		"outputs: {o: '${ v }'}\nvariables: {v: x}": {"", "could not be found"},
		// Functions.
		fn(`"fn::invoke": {function: ""}`):     {"", "invalid type token"},
		fn(`"fn::invoke": {function: "lab"}`):  {"", "invalid type token"},
		fn(`"fn::invoke": {function: "lab:"}`): {"", "unable to find function"},
		fn(`"fn::select": ["0", [a]]`):         {"must be a number", "not assignable"},
		fn(`"fn::select": [0, {a: b}]`):        {"must be a list", "not assignable"},
		fn(`"fn::split": [",", [a]]`):          {"must be a string", ""},
		fn(`"fn::stackReference": ["", o]`):    {"is empty", ""},
		fn(`"fn::readFile": ""`):               {"is empty", "reading file"},
		fn(`"fn::stringAsset": 1`):             {"must be a string", "must be a string"},
		fn(`"fn::fileAsset": null`):            {"must be a string", "must be a string"},
	} {
		checked := l.check(text)
		preview := l.update(string(checked.Text))
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			if want.fault == "" {
				g.Expect(checked.Invalid.String()).To(BeEmpty())
			}
			g.Expect(checked.Invalid.String()).To(ContainSubstring(want.fault))
			g.Expect(rejected(t, l.driver, preview)).To(ContainSubstring(want.failure))
		})
	}
}

// What the checks leave to Pulumi must not fail in the middle of an update.
func TestPulumiNamesFaultsBeforeItChangesAnything(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"by the types of the program": {`resources: {PROV, a: {type: "lab:index:Thing", properties: {name: a}}, b: {type: "lab:index:Thing", properties: 5}}`, "is not assignable from number"},
		"by the config":               {`{config: {c: {type: Number, default: x}}, resources: {PROV, a: {type: "lab:index:Thing", properties: {name: a}}}}`, "type mismatch"},
		"by the names":                {`{variables: {a: 1}, resources: {PROV, a: {type: "lab:index:Thing", properties: {name: a}}}}`, "cannot have the same name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withProvider().withStack()
			result := l.do(t.Context(), l.update(string(l.check(test.text).Text)))
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(And(ContainSubstring("Main.yaml:"), ContainSubstring(test.want)))
			l.Expect(l.things()).To(BeZero())
		})
	}
}

// Pulumi evaluates all outputs of a program, so one process reports what is wrong with many
// of them, each with its name.
func TestPulumiRejectsFaultsOfCallsOfFunctions(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	type fault struct{ call, fault, failure string }
	faults := []fault{
		{`"fn::join": ["", null]`, "must be a list", "must be a list"},
		{`"fn::join": ["", a]`, "must be a list", "must be a list"},
		{`"fn::join": ["", [null]]`, "must be a string", "must be a list of strings"},
		{`"fn::join": ["", [1]]`, "must be a string", "must be a list of strings"},
		{`"fn::join": [1, [a]]`, "must be a string", "delimiter must be a string"},
		{`"fn::toBase64": null`, "must be a string", "to be a string"},
		{`"fn::toBase64": [a]`, "must be a string", "to be a string"},
		{`"fn::fromBase64": 1`, "must be a string", "to be a string"},
		{`"fn::fromBase64": "*"`, "is no text in base64", "unable to decode"},
		{`"fn::fromBase64": "/w=="`, "is no text in base64", "not a valid UTF-8 string"},
		{`"fn::select": [0, []]`, "is past the end", "out-of-bounds"},
		{`"fn::select": [1, [a]]`, "is past the end", "out-of-bounds"},
		{`"fn::select": [-1, [a]]`, "must be the number of an item", "must be a positive integral"},
		{`"fn::select": [0.5, [a]]`, "must be the number of an item", "must be a positive integral"},
		{`"fn::select": [null, [a]]`, "must be a number", "must be a number"},
		{`"fn::select": [0, null]`, "must be a list", "must be a list"},
		{`"fn::split": [null, "ab"]`, "must be a string", "ust be a string"},
		{`"fn::length": null`, "must be a list, an object or a string", "requires a list, map, or string"},
		{`"fn::length": 5`, "must be a list, an object or a string", "requires a list, map, or string"},
		{`"fn::filebase64": null`, "must be a string", "requires a string"},
		{`"fn::sha1": 1`, "must be a string", "requires a string"},
		{`"fn::singleOrNone": [a, b]`, "has 2 items", "0 or 1 elements"},
		{`"fn::singleOrNone": a`, "must be a list", "requires a list"},
		{`"fn::pulumiResourceName": a`, "must be a reference to a resource", "requires a resource"},
		{`"fn::pulumiResourceType": null`, "must be a reference to a resource", "requires a resource"},
	}
	outputs := "outputs:\n"
	for n, one := range faults {
		output := fmt.Sprintf("  o%02d: {%s}\n", n, one.call)
		l.Expect(l.check("outputs:\n"+output).Invalid.String()).To(ContainSubstring(one.fault), one.call)
		outputs += output
	}
	_, said, _ := strings.Cut(rejected(t, l.driver, l.update(string(l.check(outputs).Text))), "Diagnostics:")
	for n, one := range faults {
		failure, rest, found := strings.Cut(said, fmt.Sprintf("output [o%02d]", n))
		l.Expect(found).To(BeTrue(), "%s: %s", one.call, said)
		l.Expect(failure).To(ContainSubstring(one.failure), one.call)
		said = rest
	}
}

// rejected returns what Pulumi prints of the program of a run that it cannot preview. The
// driver would need a second process, to mask it.
func rejected(t *testing.T, driver *Driver, r run.Run) string {
	t.Helper()
	g, dir := NewWithT(t), Directory(t.TempDir())
	_, err := driver.prepare(t.Context(), dir, r)
	g.Expect(err).NotTo(HaveOccurred())
	cli := exec.CommandContext(t.Context(), filepath.Join(driver.Bin, "pulumi"), "--non-interactive", "--color=never", "preview", "--stack=organization/demo/dev")
	cli.Dir, cli.Env = dir.Workspace(), driver.environment(dir, r)
	output, err := cli.CombinedOutput()
	g.Expect(err).To(HaveOccurred(), "%s", output)
	return string(output)
}

// All in one Program, as none of it keeps the rest from running.
func TestPulumiAcceptsProgramsWithoutFaults(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	checked := l.check(`
config:
  "  ": {type: String, default: ""}
  c: {type: String, name: "", default: x}
  d: {type: String, default: "${c} ${pulumi.stack}"}
  e: {default: {a: {"fn::secret": x}, b: {"fn::toBase64": a, c: d}}}
  f: {type: Integer, default: {"fn::length": abc}}
variables: {list: ["${a}"], " ": 1, none: null, v: x, V: y}
resources:
  PROV
  a: {type: "lab:index:Thing", properties: {name: a, value: null}, options: {ignoreChanges: [""], additionalSecretOutputs: [""], aliases: [{name: ""}]}}
  A: {type: "lab:index:Thing", name: "", properties: {name: b}, options: {dependsOn: "${list}", aliases: "${list}", deletedWith: "${a}"}}
  late: {type: "lab:index:Thing", properties: {name: "late-${V}"}, options: {deletedWith: "${z}", dependsOn: ["${z}"], replacementTrigger: "${V}"}}
  z: {type: "lab:index:Thing", properties: {name: z}}
  "a b": {type: "lab:index:Thing", name: " ", properties: {name: c}}
outputs:
  " ": {"fn::join": [null, [a]]}
  nothing: "x ${pulumi.nope}"
  o: {"fn::join": ["", []]}
  O: {"fn::split": ["", "ab"]}
  json: [{"fn::toJSON": null}, {"fn::toJSON": ""}, {"fn::secret": null}, {"fn::unsecret": null}]
  texts: [{"fn::toBase64": ""}, {"fn::fromBase64": ""}, {"fn::sha1": ""}, {"fn::length": ""}, {"fn::length": []}, {"fn::length": {}}]
  single: [{"fn::singleOrNone": []}, {"fn::select": [1.0, [a, b]]}]
  assets: [{"fn::stringAsset": ""}, {"fn::fileAsset": ""}]
`)
	l.Expect(checked.Invalid.String()).To(BeEmpty())
	result := l.do(t.Context(), l.update(string(checked.Text)))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
}

// check checks a program in which PROV stands for the lab provider, and VERSIONED for
// one with a version.
func (l *lab) check(text string) program.Checked {
	l.Helper()
	standard := `prov: {type: "pulumi:providers:lab", defaultProvider: true, properties: {directory: ` + l.cloud + `}`
	text = strings.NewReplacer("PROV", standard+"}", "VERSIONED", standard+", options: {version: 0.1.0}}").Replace(text)
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	l.Expect(err).NotTo(HaveOccurred())
	return check.Check(raw)
}
