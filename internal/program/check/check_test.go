// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/program"
)

// checked checks a program written as users write it.
func checked(t *testing.T, text string) program.Checked {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return Check(raw)
}

func lines(faults program.Faults) []string {
	var all []string
	for _, fault := range faults.First {
		all = append(all, fault.String())
	}
	return all
}

// labThing is a program that uses the package lab.
const labThing = "resources: {a: {type: 'lab:Thing'}}\n"

// everything uses all keys and functions.
const everything = `
description: all of it
pulumi: {requiredVersion: ">=3.0.0"}
config:
  words: {type: Number, default: 2}
  name: {type: string, secret: true, name: other}
  flag: {type: Boolean, value: true}
  many: {type: "List<String>", default: [a]}
  array: {type: array, items: {type: number}, default: [1]}
  object: {type: Object, default: {a: 1}}
  inferred: {default: text}
  aws:region: {value: eu-west-1}
configuration:
  old: {type: Integer}
packages: {random: 4.16.0}
variables:
  called: {"fn::invoke": {function: "a:b:c", arguments: {x: 1}, return: out, options: {parent: "${res}", version: 1.2.3, provider: "${prov}", pluginDownloadURL: "https://x", dependsOn: ["${res}"]}}}
  short: {"fn::a:b:c": {x: 1}}
  joined: {"fn::join": [",", ["a", "${words}"]]}
  json: {"fn::toJSON": {a: 1}}
  b64: {"fn::toBase64": x}
  unb64: {"fn::fromBase64": eA==}
  selected: {"fn::select": [0, [a]]}
  splitted: {"fn::split": [",", "a,b"]}
  stack: {"fn::stackReference": ["a/b/c", "out"]}
  assets: {"fn::assetArchive": {one: {"fn::stringAsset": x}, two: {"fn::remoteAsset": "https://x"}, three: {"fn::fileArchive": ./dir}, four: {"fn::remoteArchive": "https://x"}, five: {"fn::fileAsset": Pulumi.yaml}}}
  secret: {"fn::secret": x}
  unsecret: {"fn::unsecret": x}
  file: {"fn::readFile": Main.yaml}
  file64: {"fn::filebase64": Main.yaml}
  sha: {"fn::filebase64sha256": Main.yaml}
  sha1: {"fn::sha1": x}
  length: {"fn::length": [1]}
  single: {"fn::singleOrNone": [1]}
  resName: {"fn::pulumiResourceName": "${res}"}
  resType: {"fn::pulumiResourceType": "${res}"}
  cloudformation: {"Fn::Sub": "${words}"}
  cwd: ${pulumi.cwd}
resources:
  prov: {type: "pulumi:providers:a", defaultProvider: true, options: {envVarMappings: {A: B}}}
  got: {type: "a:B", get: {id: "${words}", state: {a: b}}}
  expressed: {type: "a:b:C", properties: "${cloudformation}"}
  res:
    type: b:c:D
    name: named
    properties: {p: {q: [1]}}
    options:
      additionalSecretOutputs: [s]
      aliases: ["urn:pulumi:dev::demo::b:c:D::al", {name: old, parent: "${prov}"}]
      customTimeouts: {create: 1m, delete: 2m, update: "${old}", read: 4m}
      deleteBeforeReplace: true
      dependsOn: ["${prov}"]
      ignoreChanges: [i]
      import: id
      parent: ${prov}
      protect: ${flag}
      provider: ${prov}
      providers: ["${prov}"]
      version: 1.0.0
      pluginDownloadURL: github://api.github.com/x
      replaceOnChanges: [r]
      replacementTrigger: ${words}
      retainOnDelete: true
      replaceWith: ["${prov}"]
      deletedWith: ${prov}
      hideDiffs: [h]
outputs: {out: "${res.p} and ${joined}"}
`

func TestAllOfPulumiYAMLIsValid(t *testing.T) {
	g := NewWithT(t)
	c := checked(t, everything)
	g.Expect(lines(c.Invalid)).To(BeEmpty())
	g.Expect(lines(c.SandboxViolations)).To(BeEmpty())
	g.Expect(c.Undeclared).To(BeEmpty())
	g.Expect(c.Resources).To(Equal(4))
	g.Expect(c.ProjectConfig).To(Equal(map[string]any{"aws:region": "eu-west-1"}))
	g.Expect(c.Digest).To(HavePrefix("sha256:"))
	g.Expect(string(c.Text)).To(ContainSubstring("type: \"List<number>\""))
}

func TestFaultsAreNamedWithPathAndLine(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"an unknown section":                      {"resource: {}", "program.resource (line 1): is not a key of a Program"},
		"a capitalized section":                   {"Resources: {}", "program.Resources (line 1): is not a key of a Program: it is written resources"},
		"the runtime of a project":                {"runtime: nodejs", "program.runtime (line 1): is not a key of a Program: the project is that of the Stack"},
		"what the parser would panic at":          {"sdks: x", "program.sdks (line 1): is not a key"},
		"the components of a plugin":              {"components: {a: {}}", "program.components (line 1): is not a key"},
		"a package declaration":                   {"packageDeclarationVersion: 1\nname: x", "program.packageDeclarationVersion (line 2): is not a key"},
		"a key of a resource":                     {"resources: {b: {type: a:B, property: {}}}", "program.resources.b.property (line 3): is not a key of a resource"},
		"an option":                               {"resources: {b: {type: a:B, options: {protected: true}}}", "program.resources.b.options.protected (line 4): is not a key of the options of a resource"},
		"an option in lower case":                 {"resources: {b: {type: a:B, options: {dependson: []}}}", "it is written dependsOn"},
		"a timeout":                               {"resources: {b: {type: a:B, options: {customTimeouts: {make: 1m}}}}", "program.resources.b.options.customTimeouts.make (line 5): is not a key of customTimeouts"},
		"a key of get":                            {"resources: {b: {type: a:B, get: {id: x, name: y}}}", "program.resources.b.get.name"},
		"a key of a config value":                 {"config: {a: {type: String, kind: x}}", "program.config.a.kind (line 3): is not a key of a config value"},
		"a key of configuration":                  {"configuration: {a: {type: String, kind: x}}", "program.configuration.a.kind (line 3): is not"},
		"a key of pulumi":                         {"pulumi: {version: 3}", "program.pulumi.version"},
		"a key of a call":                         {"variables: {a: {\"fn::invoke\": {function: a:b:c, args: {}}}}", "program.variables.a.fn::invoke.args (line 4): is not a key of fn::invoke"},
		"an option of a call":                     {"variables: {a: {\"fn::invoke\": {function: a:b:c, options: {protect: true}}}}", "program.variables.a.fn::invoke.options.protect"},
		"a function":                              {"outputs: {a: {\"fn::jion\": [1]}}", "program.outputs.a.fn::jion (line 3): is no function of Pulumi YAML"},
		"a name in both sections":                 {"config: {a: {type: String}}\nconfiguration: {a: {type: String}}", "program.configuration.a: is declared in config, too"},
		"more than a value for a provider":        {"config: {\"aws:region\": {value: a, secret: true}}", `program.config["aws:region"].secret: is not a key of a value for a provider, which stands in the clear`},
		"a default for a provider":                {labThing + `config: {"lab:directory": {default: /x}}`, `program.config["lab:directory"].default: does not reach the provider: use value instead of default`},
		"a typed default for a provider":          {labThing + `configuration: {"lab:directory": {type: string, default: /x}}`, `program.configuration["lab:directory"].default: does not reach the provider`},
		"a typed secret for a provider":           {labThing + `config: {"lab:directory": {type: string, value: /x, secret: true}}`, `program.config["lab:directory"].secret: is not a key of a value for a provider, which stands in the clear`},
		"an expression for a provider":            {labThing + `config: {"lab:directory": {type: string, value: "/x/${pulumi.stack}"}}`, `program.config["lab:directory"].value: is an expression`},
		"a call for a provider":                   {labThing + `config: {"lab:directory": {type: string, value: {"fn::join": ["/", [a]]}}}`, `program.config["lab:directory"].value: is an expression`},
		"a default for a listed package":          {`{packages: {aws: 6.0.0}, config: {"aws:region": {default: x}}}`, `program.config["aws:region"].default: does not reach the provider`},
		"a default for the provider of a call":    {`{outputs: {o: {"fn::aws:getRegion": {}}}, config: {"aws:region": {default: x}}}`, `program.config["aws:region"].default: does not reach the provider`},
		"a default for the provider of an invoke": {`{variables: {v: {"fn::invoke": {function: "aws:index:getRegion"}}}, config: {"aws:region": {default: x}}}`, `program.config["aws:region"].default: does not reach the provider`},
		"a default for an explicit provider":      {`{resources: {p: {type: "pulumi:providers:aws"}}, config: {"aws:region": {default: x}}}`, `program.config["aws:region"].default: does not reach the provider`},
		"a default for Pulumi itself":             {`config: {"pulumi:tags": {default: {a: b}}}`, `program.config["pulumi:tags"].default: does not reach the provider`},
		"items for a provider":                    {`config: {"aws:zones": {items: {type: string}, value: [a]}}`, `program.config["aws:zones"].items: is not a key of a value for a provider, which has nothing else`},
		"a value and a default":                   {"config: {a: {value: 1, default: 1}}", "program.config.a.value (line 4): and default cannot both be given"},
		"a secret that is a text":                 {"config: {a: {type: String, secret: \"yes\"}}", "program.config.a.secret (line 3): secret must be a boolean value, and is a string"},
		"an option that must be a list":           {"resources: {b: {type: a:B, options: {ignoreChanges: x}}}", "program.resources.b.options.ignoreChanges (line 4): ignoreChanges must be a list, and is a string"},
		"a version that is a number":              {"resources: {b: {type: a:B, options: {version: 5}}}", "version must be a string, and is a number"},
		"a version that is a path":                {"resources: {b: {type: a:B, options: {version: ../x}}}", "program.resources.b.options.version (line 4): is no version"},
		"a resource that is no object":            {"resources: {b: x}", "program.resources.b (line 2): resources.b must be an object, and is a string"},
		"resources that are a list":               {"resources: [x]", "program.resources (line 1): resources must be an object, and is a list"},
		"a type that no resource has":             {"resources: {b: {type: bucket}}", "program.resources.b.type (line 3): is no type of a resource"},
		"a join with one argument":                {"outputs: {a: {\"fn::join\": [x]}}", "program.outputs.a.fn::join (line 3): the argument to fn::join must be a two-valued list"},
		"a reference that does not end":           {"outputs: {a: \"${x\"}", "program.outputs.a (line 2): unterminated interpolation"},
		"an empty reference":                      {"outputs: {a: \"${}\"}", "program.outputs.a (line 2): Property access expressions cannot be empty"},
		"an asset with another key":               {"outputs: {a: {\"fn::stringAsset\": x, b: c}}", "must have it's own object"},
		"an archive of texts":                     {"outputs: {a: {\"fn::assetArchive\": {b: c}}}", "value must be an asset or an archive"},
		"keys that need quotes":                   {"outputs: {\"a.b\": {\"c d\": [{\"fn::join\": x}]}}", `program.outputs["a.b"]["c d"][0].fn::join (line 4): the argument`},
		"a resource that is null":                 {"resources: {a: null}", "program.resources.a (line 2): resources.a must be an object, and is null"},
		"a section that is null":                  {"resources:", "program.resources (line 1): resources must be an object, and is null"},
		"a value for a provider that is null":     {"config: {'aws:region': {value: null}}", "program.config[\"aws:region\"].value: is null, which no config value can be"},
		"options that are null":                   {"resources: {a: {type: 'a:B', options: null}}", "program.resources.a.options (line 3): options must be an object, and is null"},
		"a get that is null":                      {"resources: {a: {type: 'a:B', get: null}}", "program.resources.a.get (line 3): get must be an object, and is null"},
		"a secret that is null":                   {"config: {a: {type: String, secret: null}}", "program.config.a.secret (line 3): secret must be a boolean value, and is null"},
		"a package that is null":                  {"packages: {a: null}", "program.packages.a (line 2): must be the version of the package"},
		"what is nested too deep":                 {"outputs: {a: " + strings.Repeat("[", 101) + strings.Repeat("]", 101) + "}", "is nested deeper than 100 levels"},
		"a key that is too long":                  {"outputs: {? " + strings.Repeat("a", 1025) + " : 1}", "has a key of 1025 bytes"},
		"calls in the options of calls, in turns": {"outputs: {a: " + nestedCalls(4) + "}", "is a call in the options of a call, more than 3 times over"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(lines(checked(t, test.text).Invalid)).To(ContainElement(ContainSubstring(test.want)))
		})
	}
}

func nestedCalls(n int) string {
	if n == 0 {
		return "x"
	}
	return fmt.Sprintf(`{"Fn::invoke": {function: a:b:c, Options: {parent: %s}}}`, nestedCalls(n-1))
}

func TestUndeclaredNamesAreNoFault(t *testing.T) {
	g := NewWithT(t)
	c := checked(t, "variables: {a: \"${words}\"}\noutputs: {o: \"${size.of} ${a} ${pulumi.stack}\"}")
	g.Expect(lines(c.Invalid)).To(BeEmpty())
	g.Expect(c.Undeclared).To(Equal([]string{"size", "words"}))
	g.Expect(checked(t, "outputs: {o: '${ a }${b}${ }'}").Undeclared).To(Equal([]string{`" "`, `" a "`, "b"}))
}

func TestFaultsAreBounded(t *testing.T) {
	g := NewWithT(t)
	var text strings.Builder
	text.WriteString("resources:\n")
	for n := range 1000 {
		fmt.Fprintf(&text, "  r%d: {type: a:B, options: {nope: true}}\n", n)
	}
	c := checked(t, text.String())
	g.Expect(c.Invalid.First).To(HaveLen(maxFaults))
	g.Expect(c.Invalid.More).To(Equal(1000 - maxFaults))
	g.Expect(c.Invalid.String()).To(HaveSuffix("; and 995 more"))
	g.Expect(len(c.Invalid.String())).To(BeNumerically("<", program.MaxShown*(maxMessage+maxPath+20)))
}

// TestABigProgramIsCheckedSoon: anyone who can write a Program can write one of maximal
// cost. With anything that grows faster than the text, this takes minutes.
func TestABigProgramIsCheckedSoon(t *testing.T) {
	many := func(n int, format string) string {
		var text strings.Builder
		for i := range n {
			if i > 0 {
				text.WriteString(",")
			}
			fmt.Fprintf(&text, format, i, i+1)
		}
		return text.String()
	}
	deep := strings.Repeat(`{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":`, 90)
	for name, raw := range map[string]string{
		"resources":              `{"resources":{` + many(4000, `"r%d":{"type":"a:B","properties":{"x":"${r%d.id}"}}`) + `}}`,
		"defaults":               `{"config":{` + many(20000, `"c%d":{"default":"${c%d}"}`) + `}}`,
		"references to one name": `{"resources":{` + many(4000, `"r%d":{"type":"a:B","options":{"parent":"${r%d}","protect":"${r0.id}"}}`) + `}}`,
		"a chain of variables":   `{"variables":{` + many(8000, `"v%d":"${v%d}"`) + `}}`,
		"faults":                 `{"resources":{` + many(4000, `"r%d":{"type":"a:B","options":{"x%d":1}}`) + `}}`,
		"faults that are deep":   `{"outputs":{"a":` + deep + `[` + strings.TrimSuffix(strings.Repeat(`{"fn::join":1},`, 10000), ",") + `]` + strings.Repeat("}", 90) + `}}`,
		"cycles":                 `{"variables":{` + many(4000, `"v%d":"${v0} ${v%d}"`) + `}}`,
		"calls in calls":         `{"outputs":{` + many(600, `"o%d":`+`{"fn::invoke":{"options":{"parent":{"fn::invoke":{"options":{"parent":"${x%d"}}}}}}`) + `}}`,
		"one long text":          `{"outputs":{"a":"` + strings.Repeat("${a}", 60000) + `"}}`,
		"nested as deep as JSON": `{"outputs":{"a":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			started := time.Now()
			Check([]byte(raw))
			took := time.Since(started)
			t.Logf("%d bytes took %s", len(raw), took)
			NewWithT(t).Expect(took).To(BeNumerically("<", time.Minute))
		})
	}
}

func TestTheDigestCoversTheValuesForProviders(t *testing.T) {
	g := NewWithT(t)
	of := func(text string) string { return checked(t, text).Digest }
	g.Expect(of("config: {\"aws:region\": {value: a}}")).NotTo(Equal(of("config: {\"aws:region\": {value: b}}")))
	g.Expect(of("outputs: {a: 1, b: 2}")).To(Equal(of("outputs: {b: 2, a: 1}")))
}

func TestUnreadableProgramsAreFaults(t *testing.T) {
	for _, raw := range []string{``, `null`, `[]`, `"x"`, `{"outputs":{"a":1e999}}`, `{`} {
		NewWithT(t).Expect(Check([]byte(raw)).Invalid.None()).To(BeFalse(), raw)
	}
	NewWithT(t).Expect(Check([]byte(`{}`)).Invalid.None()).To(BeTrue())
}
