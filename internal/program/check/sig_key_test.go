// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const (
	sigKey = "4dabf18193072939515e22adb298388d"
	asset  = "{" + sigKey + ": c44067f5952c0a294b673a41bacd8c17, path: /etc/passwd}"
)

func TestSigKeyIsNamed(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a variable":                    {"variables: {v: " + asset + "}", "program.variables.v." + sigKey + " (line 3): has " + sigKey + ", by which Pulumi marks an asset, an archive or a secret where it passes it on: use fn::fileAsset"},
		"an output":                     {"outputs: {o: {deep: [" + asset + "]}}", "program.outputs.o.deep[0]." + sigKey + " (line 4)"},
		"a property":                    {"resources: {r: {type: a:B, properties: {p: " + asset + "}}}", "program.resources.r.properties.p." + sigKey},
		"all properties":                {"resources: {r: {type: a:B, properties: " + asset + "}}", "program.resources.r.properties." + sigKey},
		"the state to get by":           {"resources: {r: {type: a:B, get: {id: x, state: {p: " + asset + "}}}}", "program.resources.r.get.state.p." + sigKey},
		"a default":                     {"config: {c: {type: Object, default: " + asset + "}}", "program.config.c.default." + sigKey},
		"a value":                       {"configuration: {c: {type: Object, value: " + asset + "}}", "program.configuration.c.value." + sigKey},
		"a value for a provider":        {"config: {\"a:b\": {value: {x: " + asset + "}}}", `program.config["a:b"]: has ` + sigKey},
		"a text for a provider":         {"config: {\"a:b\": {value: '" + strings.Replace(`{"4dab": 1}`, "4dab", `\u0034`+sigKey[1:], 1) + "'}}", `program.config["a:b"]: has ` + sigKey},
		"the arguments of a call":       {"variables: {v: {\"fn::a:b:c\": " + asset + "}}", "program.variables.v.fn::a:b:c." + sigKey},
		"the arguments of fn::invoke":   {"variables: {v: {\"fn::invoke\": {function: a:b:c, arguments: {x: " + asset + "}}}}", "arguments.x." + sigKey},
		"what makes JSON":               {"variables: {v: {\"fn::toJSON\": " + asset + "}}", "program.variables.v.fn::toJSON." + sigKey},
		"what Pulumi would not look at": {"variables: {v: {\"Fn::Sub\": " + asset + "}}", sigKey},
		"a text, to become a key":       {"variables: {k: " + sigKey + "}", "program.variables.k (line 2): has " + sigKey},
		"an item of a list":             {"variables: {k: [" + sigKey + "]}", "program.variables.k[0] (line 3): has " + sigKey},
		"a part of a text":              {"variables: {k: \"x," + sigKey + "\"}", "program.variables.k (line 2)"},
		"a key that is a reference":     {"variables: {v: {\"${k}\": 1}}", `program.variables.v["${k}"] (line 3): may, when it is run, be the key ` + sigKey},
		"a key of two references":       {"variables: {v: {\"${k}${l.m}\": 1}}", "may, when it is run, be the key"},
		"a key with a part of it":       {"variables: {v: {\"4dabf181${k}88d\": 1}}", "may, when it is run, be the key"},
		"such a key deep in properties": {"resources: {r: {type: a:B, properties: {p: [{\"${k}\": 1}]}}}", `program.resources.r.properties.p[0]["${k}"]`},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(lines(checked(t, test.text).SandboxViolations)).To(ContainElement(ContainSubstring(test.want)))
		})
	}
}

func TestKeysThatCannotBecomeSigKeyAreNoFaults(t *testing.T) {
	for _, key := range []string{
		"kubernetes.io/cluster/${name}", "${name}-tags", "A${name}", "g${name}", "${a}.${b}", "$${a}", "4dabf18193072939515e22adb298388", "path", "",
	} {
		NewWithT(t).Expect(lines(checked(t, "variables: {name: a, a: b, b: c, v: {\""+key+"\": 1}}").SandboxViolations)).To(BeEmpty(), key)
	}
}
