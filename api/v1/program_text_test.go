// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// program decodes the JSON of a ProgramSpec.
func program(t *testing.T, text string) *ProgramSpec {
	t.Helper()
	spec := &ProgramSpec{}
	if err := json.Unmarshal([]byte(text), spec); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return spec
}

func TestTextIsPulumiYAML(t *testing.T) {
	for name, tt := range map[string]struct{ program, want string }{
		"an empty program is an empty object": {`{}`, "{}\n"},
		"empty sections are dropped":          {`{"packages":{},"variables":{},"outputs":{}}`, "{}\n"},
		"no resources on purpose are kept":    {`{"resources":{},"variables":{}}`, "resources: {}\n"},
		"configuration is written as config": {
			`{"configuration":{"size":{"type":"Number","default":3},"key":{"type":"String","secret":true}}}`,
			"config:\n  key:\n    secret: true\n    type: String\n  size:\n    default: 3\n    type: Number\n"},
		"config and configuration are merged": {
			`{"configuration":{"old":{"type":"Number"}},"config":{"new":{"type":"String"}}}`,
			"config:\n  new:\n    type: String\n  old:\n    type: Number\n"},
		"a value becomes a default, and an array of items a list": {
			`{"config":{"aaa":{"value":1,"description":"x"},"bbb":{"type":"array","items":{"type":"string"}}}}`,
			"config:\n  aaa:\n    default: 1\n  bbb:\n    type: \"List<string>\"\n"},
		"a value for a provider is left to the project": {
			`{"config":{"aws:region":{"value":"x"}}}`, "{}\n"},
		"sections are sorted by name": {
			`{"variables":{"bbb":"x"},"outputs":{"out":"${bbb}"},"packages":{"aws":"6.0.0"},"resources":{"res":{"type":"aws:s3:Bucket"}}}`,
			"outputs:\n  out: \"${bbb}\"\npackages:\n  aws: \"6.0.0\"\nresources:\n  res:\n    type: aws:s3:Bucket\nvariables:\n  bbb: x\n"},
		"numbers stay as they are written": {
			`{"variables":{"aaa":[1,1.0,1e3,-0.5,9007199254740993,123456789012345678901234567890,1E-7]}}`,
			"variables:\n  aaa:\n    - 1\n    - 1.0\n    - 1e3\n    - -0.5\n    - 9007199254740993\n" +
				"    - 123456789012345678901234567890\n    - 1E-7\n"},
		"text that looks like something else is quoted": {
			`{"variables":{"aaa":["007","1.0","1e3","yes","on","No","y","~","null","true","2026-01-02","1:30","0x1f","","<<","=",".nan"]}}`,
			"variables:\n  aaa:\n    - \"007\"\n    - \"1.0\"\n    - \"1e3\"\n    - \"yes\"\n    - \"on\"\n    - \"No\"\n    - \"y\"\n" +
				"    - \"~\"\n    - \"null\"\n    - \"true\"\n    - \"2026-01-02\"\n    - \"1:30\"\n    - \"0x1f\"\n    - \"\"\n    - \"<<\"\n" +
				"    - \"=\"\n    - \".nan\"\n"},
		"keys that look like something else are quoted": {
			`{"variables":{"on":1,"1":2,"null":3,"a b":4}}`,
			"variables:\n  \"1\": 2\n  \"a b\": 4\n  \"null\": 3\n  \"on\": 1\n"},
		"booleans and null are kept": {
			`{"variables":{"aaa":[true,false,null]}}`,
			"variables:\n  aaa:\n    - true\n    - false\n    - null\n"},
		"function calls are kept": {
			`{"variables":{"ami":{"fn::invoke":{"function":"aws:ec2:getAmi","return":"id"}}}}`,
			"variables:\n  ami:\n    fn::invoke:\n      function: aws:ec2:getAmi\n      return: id\n"},
		"multi-line text, quotes and markup are kept": {
			`{"variables":{"aaa":"one\n  two\n\n","bbb":"a \"b\" <c> & 'd' \\ # e: f"}}`,
			"variables:\n  aaa: \"one\\n  two\\n\\n\"\n  bbb: \"a \\\"b\\\" <c> & 'd' \\\\ # e: f\"\n"},
		"empty lists and objects are kept": {
			`{"variables":{"aaa":[],"bbb":{}}}`, "variables:\n  aaa: []\n  bbb: {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := program(t, tt.program).Text()
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// all is a program with every field of every type set, so that adding a field
// that Pulumi YAML does not know fails a test here.
const all = `{"configuration":{"cfg":{"type":"String","default":"d","secret":true,"name":"n"}},"description":"d",
"config":{"cfg2":{"type":"Boolean"}},"pulumi":{"requiredVersion":">=3.0.0"},
"resources":{"res":{"type":"a:b:C","name":"n","defaultProvider":true,"properties":{"p":{"q":[1]}},
"options":{"additionalSecretOutputs":["s"],"aliases":["al"],"customTimeouts":{"create":"1m","delete":"2m","update":"3m","read":"4m"},
"replacementTrigger":1,"envVarMappings":{"A":"B"},
"deleteBeforeReplace":true,"dependsOn":["${o}"],"ignoreChanges":["i"],"import":"id","parent":"${p}","protect":true,
"provider":"${v}","providers":["${v}"],"version":"1.0.0","pluginDownloadURL":"https://x","replaceOnChanges":["r"],
"retainOnDelete":true,"replaceWith":["${w}"],"deletedWith":"${d}","hideDiffs":["h"]},
"get":{"id":"i-1","state":{"s":"t"}}}},"variables":{"var":1},"outputs":{"out":2},"packages":{"pkg":"1.2.3"}}`

func TestTextHasEveryField(t *testing.T) {
	checkRoundTrip(t, program(t, all))
	var fields map[string]any
	if err := json.Unmarshal([]byte(all), &fields); err != nil {
		t.Fatal(err)
	}
	if got, want := len(fields), reflect.TypeFor[ProgramSpec]().NumField(); got != want {
		t.Errorf("the test has %d sections and ProgramSpec %d: add what is missing", got, want)
	}
	options := fields["resources"].(map[string]any)["res"].(map[string]any)["options"].(map[string]any)
	if got, want := len(options), reflect.TypeFor[ResourceOptions]().NumField(); got != want {
		t.Errorf("the test has %d resource options and ResourceOptions %d: add what is missing", got, want)
	}
}

func TestTextIsAlwaysTheSame(t *testing.T) {
	first, err := program(t, all).Text()
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		again, err := program(t, all).Text()
		if err != nil || string(again) != string(first) {
			t.Fatalf("got %q (%v), before that %q", again, err, first)
		}
	}
}

func TestTextRefusesWhatYAMLCannotHold(t *testing.T) {
	spec := &ProgramSpec{Variables: map[string]Expression{"huge": {Raw: []byte(`[1e999]`)}}}
	if _, err := spec.Text(); err == nil || !strings.Contains(err.Error(), "variables: huge: [0]: the number 1e999 is out of range") {
		t.Errorf("a number that is out of range gave: %v", err)
	}
	spec = &ProgramSpec{Variables: map[string]Expression{"bad": {Raw: []byte(`{`)}}}
	if _, err := spec.Text(); err == nil {
		t.Error("an expression that is not JSON gave no error")
	}
}

// checkRoundTrip parses the text with both versions of YAML and compares the
// results with the JSON of the program.
func checkRoundTrip(t *testing.T, spec *ProgramSpec) {
	t.Helper()
	text, err := spec.Text()
	if err != nil {
		t.Fatalf("text: %v", err)
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if declarations, ok := want["configuration"].(map[string]any); ok {
		more, _ := want["config"].(map[string]any)
		maps.Copy(declarations, more)
		want["config"] = declarations
		delete(want, "configuration")
	}
	// YAML 1.1, as kubectl reads it.
	var got map[string]any
	if err := sigsyaml.Unmarshal(text, &got); err != nil {
		t.Fatalf("YAML 1.1: %v\n%s", err, text)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("YAML 1.1 reads\n%#v\nwant\n%#v\n%s", got, want, text)
	}
	// YAML 1.2, as Pulumi reads it.
	var node any
	if err := yamlv3.Unmarshal(text, &node); err != nil {
		t.Fatalf("YAML 1.2: %v\n%s", err, text)
	}
	again, err := json.Marshal(node)
	if err != nil {
		t.Fatalf("YAML 1.2 does not read as JSON: %v\n%s", err, text)
	}
	got = nil
	if err := json.Unmarshal(again, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("YAML 1.2 reads\n%#v\nwant\n%#v\n%s", got, want, text)
	}
}

// FuzzTextRoundTrip checks that the text of a program with any variable name and
// any JSON value parses to the same program.
func FuzzTextRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`1`, `1.0`, `1e3`, `-0`, `123456789012345678901234567890`, `"007"`, `"yes"`, `"on"`, `"2026-01-02T03:04:05Z"`,
		`"a\nb\n"`, `" lead"`, `"\ttab"`, `"trail "`, `"\u0000\u0007\u0085\u2028\ufeff"`, `"😀"`, `"${a.b[0]}"`, `"- a"`, `"{}"`, `"? x"`,
		`{"fn::join":[",",["a",1,null,true]]}`, `{"":""}`, `{"<<":{"a":1}}`, `[[],{},[[]]]`, `"a: b #c"`, `"!!int 1"`, `"&a"`, `"*a"`, `"|"`,
	} {
		f.Add("name", seed)
	}
	f.Add("on", `1`)
	f.Add("1", `1`)
	f.Add("<<", `{"a":1}`)
	f.Add(strings.Repeat("k", 2000), `1`)
	f.Fuzz(func(t *testing.T, name, value string) {
		var expression Expression
		if json.Unmarshal([]byte(value), &expression) != nil {
			t.Skip("not JSON")
		}
		var decoded any
		if json.Unmarshal([]byte(value), &decoded) != nil {
			t.Skip("a number that is out of range, which Text refuses")
		}
		checkRoundTrip(t, &ProgramSpec{Variables: map[string]Expression{name: expression}})
	})
}
