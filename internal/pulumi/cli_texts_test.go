// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// doSource executes a run of a program with the files of a source.
func (l *lab) doSource(r run.Run, files map[string]string) run.Result {
	l.Helper()
	dir := Directory(l.TempDir())
	writeTree(l.T, dir.Workspace(), files)
	r.Program = run.Program{Artifact: &run.Artifact{}}
	result := l.driver.Do(l.Context(), dir, r, func(string) {})
	l.Logf("%s: %s: %+v %q", r.ID, result.Outcome, result.Changes, result.Message)
	return result
}

// What Pulumi YAML makes of such texts is the reason for keepTexts: 1.23456789012e+11 of
// the account, 1.3 of the version, a boolean of the flag.
const textsProgram = `
config:
  suffix: {type: string}
  account: {type: String}
  zero: {type: string}
  version: {default: "1.20"}
  rate: {type: string, default: "${account}"}
  flag: {type: string}
  quoted: {type: string}
  number: {type: string}
  renamed: {type: string, name: other}
  port: {type: Number}
outputs:
  suffix: sg-${suffix}
  arn: arn:aws:iam::${account}:role/x
  zero: ${zero}
  version: ${version}
  tag: v${version}
  rate: rate=${rate}
  flag: ${flag}
  quoted: arn:aws:iam::${quoted}:role/x
  number: ${number}
  renamed: ${renamed}
  port: :${port}
  json: {"fn::toJSON": {account: "${account}", version: "${version}"}}
`

func TestTextsThatLookLikeNumbersReachAProgramAsTheyAre(t *testing.T) {
	t.Parallel()
	values := map[string]json.RawMessage{
		"suffix": json.RawMessage(`"1048576"`), "demo:account": json.RawMessage(`"123456789012"`), "zero": json.RawMessage(`"012345678912"`),
		"version": json.RawMessage(`"1.30"`), "rate": json.RawMessage(`"0.01"`), "flag": json.RawMessage(`"false"`),
		"quoted": json.RawMessage(`"\"123456789012\""`), "number": json.RawMessage(`123456789012`), "other": json.RawMessage(`"1.30"`),
		"port": json.RawMessage(`1234567`),
	}
	want := map[string]string{
		"suffix": "sg-1048576", "arn": "arn:aws:iam::123456789012:role/x", "zero": "012345678912", "version": "1.30", "tag": "v1.30",
		"rate": "rate=0.01", "flag": "false", "quoted": "arn:aws:iam::123456789012:role/x", "number": "123456789012", "renamed": "1.30",
		"port": ":1.234567e+06", "json": `{"account":"123456789012","version":"1.30"}`,
	}
	check := func(l *lab, result run.Result) {
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		for name, text := range want {
			l.Expect(result.Outputs[name]).To(MatchJSON(jsonString(text)), name)
		}
	}
	t.Run("a Program", func(t *testing.T) {
		t.Parallel()
		l := newLab(t).withStack()
		checked := l.check(textsProgram)
		l.Expect(checked.Invalid.String()).To(BeEmpty())
		r := l.update(string(checked.Text))
		r.Config = values
		check(l, l.do(t.Context(), r))
	})
	t.Run("a Main.yaml of a source", func(t *testing.T) {
		t.Parallel()
		l := newLab(t).withStack()
		r := l.update("")
		r.Config = values
		check(l, l.doSource(r, map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\nconfig: {suffix: {type: string}}\n", "Main.yaml": textsProgram}))
	})
}

// A Pulumi.yaml may declare the types too, and the CLI compares the values with them.
func TestTextsOfEveryKindReachAPulumiYAMLAsTheyAre(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	texts := []string{"123456789012", "1.30", "0.10", "-0", "1e3", "1_000", "0x10", "007", "true", "t", "null", "NaN", "Infinity", " 5", "5\n",
		"", `a "b" c`, "two\nlines", "plain", `"not closed`}
	for name, give := range map[string]func(r *run.Run, key, text string){
		"plain":  func(r *run.Run, key, text string) { r.Config[key] = jsonString(text) },
		"secret": func(r *run.Run, key, text string) { r.Secrets[key] = text },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withStack()
			r := l.update("")
			r.Config, r.Secrets, r.Outputs = map[string]json.RawMessage{}, map[string]string{}, &run.WantedOutputs{}
			config, outputs := "config:\n", "outputs:\n"
			for n, text := range texts {
				key := fmt.Sprintf("t%d", n)
				give(&r, key, text)
				config += fmt.Sprintf("  %s: {type: string}\n", key)
				outputs += fmt.Sprintf("  %s: ${%s}\n  in-%s: \"<${%s}>\"\n", key, key, key, key)
			}
			r.Config["list"] = json.RawMessage(`["1.30", {"account": "123456789012", "port": 5}]`)
			give(&r, "object", `{"a": [1, "1.30"]}`)
			config += "  object: {type: string}\n"
			outputs += "  list: ${list}\n  object: ${object}\n"
			result := l.doSource(r, map[string]string{"Pulumi.yaml": "name: demo\nruntime: yaml\n" + config + outputs})
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			for n, text := range texts {
				l.Expect(result.Plain.Values[fmt.Sprintf("t%d", n)]).To(MatchJSON(jsonString(text)), text)
				l.Expect(result.Plain.Values[fmt.Sprintf("in-t%d", n)]).To(MatchJSON(jsonString("<"+text+">")), text)
			}
			l.Expect(result.Plain.Values["object"]).To(MatchJSON(`{"a": [1, "1.30"]}`), "it is one for the program, whatever that declares")
			l.Expect(result.Plain.Values["list"]).To(MatchJSON(r.Config["list"]), "in a list or an object, texts are texts anyway")
		})
	}
}

// The controller does not change the files of a source, and Pulumi YAML does not convert the
// default of a Program.
func TestTextsThatAStackDoesNotGive(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	const outputs = "outputs: {a: 'x${a}', b: 'v${b}'}\n"
	l := newLab(t).withStack()
	result := l.doSource(l.update(""), map[string]string{
		"Pulumi.yaml":     "name: demo\nruntime: yaml\nconfig: {a: {type: string, default: '123456789012'}, b: {type: string}}\n" + outputs,
		"Pulumi.dev.yaml": "config: {b: '1.30'}\n"})
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Outputs).To(Equal(map[string]json.RawMessage{"a": json.RawMessage(`"x1.23456789012e+11"`), "b": json.RawMessage(`"v1.3"`)}))

	checked := l.check("config: {a: {type: string, default: '123456789012'}, b: {value: '1.30'}}\n" + outputs)
	result = l.do(t.Context(), l.update(string(checked.Text)))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Outputs).To(Equal(map[string]json.RawMessage{"a": json.RawMessage(`"x123456789012"`), "b": json.RawMessage(`"v1.30"`)}))
}

// Without quotation marks, Pulumi YAML gives the provider a number, which it refuses.
func TestASecretOfDigitsIsAText(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for name, secret := range map[string]string{"as it is": "4711471147", "in quotation marks": `"4711471147"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withProvider().withStack()
			program := "config: {pin: {type: string}}\nresources:\n" +
				"  prov: {type: 'pulumi:providers:lab', defaultProvider: true, properties: {directory: " + l.cloud + "}}\n"
			made := "  a: {type: 'lab:index:Thing', properties: {name: a, secretValue: \"${pin}\"}}\n"
			r := l.update(program + made + "outputs: {o: \"${a.secretValue}\"}\n")
			r.Secrets, r.Masks, r.Outputs = map[string]string{"pin": secret}, []string{secret}, &run.WantedOutputs{}
			result := l.do(t.Context(), r)
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			l.Expect(l.find("4711471147", l.backend)).To(BeEmpty(), "it is encrypted in the state")
			l.Expect(result.Plain.Values["o"]).To(MatchJSON(`"4711471147"`))

			next := l.update(program + made + careless("\"${pin}\""))
			next.Secrets, next.Masks = r.Secrets, r.Masks
			result = l.do(t.Context(), next)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring("no luck"))
			for _, text := range append(l.saidLines(), result.Message) {
				l.Expect(text).NotTo(ContainSubstring("4711471147"))
				l.Expect(text).NotTo(ContainSubstring("4.711471147e+09"))
			}
		})
	}
}
