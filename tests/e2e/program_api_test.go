// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/conditions/check"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// everyKey is a program with all keys that make sense together and a call of each function, except those of
// providers, of which the lab has none, and fn::stackReference, which needs another stack.
const everyKey = `
description: every key
pulumi: {requiredVersion: ">=3.0.0"}
config:
  words: {type: Number, default: 2}
  whole: {type: Integer, value: 3}
  flag: {type: Boolean, default: true}
  guarded: {type: Boolean, default: false}
  many: {type: "List<String>", default: [a, b]}
  array: {type: array, items: {type: number}, default: [1, 2]}
  object: {type: Object, default: {a: 1}}
  renamed: {type: String, name: other}
  hidden: {type: String, secret: true, default: quiet}
  elsewhere:key: {value: of a provider}
configuration:
  old: {default: text}
variables:
  plain: one
  none: null
  text: {"fn::stringAsset": abc}
  assets:
    "fn::assetArchive":
      text: {"fn::stringAsset": abc}
      file: {"fn::fileAsset": Pulumi.yaml}
      here: {"fn::fileArchive": .}
      there: {"fn::remoteAsset": "https://example.com/${plain}"}
      more: {"fn::remoteArchive": "https://example.com/a.tgz"}
  sum: {"fn::filebase64sha256": Pulumi.yaml}
  coded: {"fn::filebase64": Pulumi.yaml}
resources:
  first:
    type: lab:index:Thing
    name: first-thing
    properties: {name: first, value: "${plain}"}
    options: {retainOnDelete: false, deleteBeforeReplace: true, hideDiffs: [value], customTimeouts: {create: 1m, update: 1m, delete: 1m, read: 1m}}
  second:
    type: lab:index:Thing
    properties: {name: second, value: "${first.value}-${words}"}
    options:
      additionalSecretOutputs: [tags]
      aliases: [{name: old-second}]
      dependsOn: ["${first}"]
      deletedWith: ${first}
      ignoreChanges: [tags]
      parent: ${first}
      protect: ${guarded}
      replaceOnChanges: [name]
      replacementTrigger: ${words}
outputs:
  whole: ${whole}
  flag: ${flag}
  many: ${many}
  array: ${array}
  object: ${object.a}
  renamed: ${renamed}
  hidden: ${hidden}
  old: ${old}
  join: {"fn::join": ["-", ["a", "${plain}"]]}
  toJSON: {"fn::toJSON": {a: "${words}"}}
  empty: {"fn::toJSON": ["${none}"]}
  toBase64: {"fn::toBase64": abc}
  fromBase64: {"fn::fromBase64": YWJj}
  select: {"fn::select": [1, [a, b]]}
  split: {"fn::split": [",", "a,b"]}
  sha1: {"fn::sha1": abc}
  length: {"fn::length": [a, b, c]}
  single: {"fn::singleOrNone": [one]}
  resourceName: {"fn::pulumiResourceName": "${second}"}
  resourceType: {"fn::pulumiResourceType": "${second}"}
  secret: {"fn::secret": s}
  unsecret: {"fn::unsecret": {"fn::secret": s}}
  project: ${pulumi.project}
  file: {"fn::readFile": Pulumi.yaml}
  file64: {"fn::fromBase64": "${coded}"}
  sum: {"fn::length": ["${sum}"]}
`

// TestEveryFunctionOfPulumiYAMLIsCalled runs all functions with Pulumi's own language host.
func TestEveryFunctionOfPulumiYAMLIsCalled(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.applyProgram(everyKey)
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.Config["other"] = jsonText("given")
	})
	u.apply(stack)
	u.awaitReady(stack)
	for name, want := range map[string]string{
		"whole": `3`, "flag": `true`, "many": `["a","b"]`, "array": `[1,2]`, "object": `1`, "renamed": `"given"`, "hidden": `"[secret]"`, "old": `"text"`,
		"join": `"a-one"`, "toJSON": `"{\"a\":2}"`, "empty": `"[null]"`, "toBase64": `"YWJj"`, "fromBase64": `"abc"`, "select": `"b"`, "split": `["a","b"]`,
		"sha1": `"a9993e364706816aba3e25717850c26c9cd0d89d"`, "length": `3`, "single": `"one"`, "resourceName": `"second"`,
		"resourceType": `"lab:index:Thing"`, "secret": `"[secret]"`, "unsecret": `"***"`, "project": `"app"`,
		"sum": `1`,
	} {
		u.Expect(stack.Status.Outputs).To(HaveKey(name))
		u.Expect(stack.Status.Outputs[name].Raw).To(MatchJSON(want), name)
	}
	for _, name := range []string{"file", "file64"} {
		u.Expect(string(stack.Status.Outputs[name].Raw)).To(And(ContainSubstring("name: app"), ContainSubstring("elsewhere:key")), name)
	}
	u.Expect(u.things()).To(Equal(map[string]string{"first": "one", "second": "one-2"}))
}

// TestAFaultOfAProgramIsNamedAndItsStackWaits uses a client without strict validation.
func TestAFaultOfAProgramIsNamedAndItsStackWaits(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.applyProgram(oneThing("one") + "runtime: nodejs\n")
	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "app"}}
	stack := u.stack(fromProgram)
	u.apply(stack)
	for name, test := range map[string]struct{ body, fault string }{
		"a key that is not known": {oneThing("one") + "runtime: nodejs\n",
			"program.runtime (line 9): is not a key of a Program: the project is that of the Stack"},
		"an option that is not known": {"resources: {a: {type: 'lab:index:Thing', options: {protected: true}}}",
			"program.resources.a.options.protected (line 4): is not a key of the options of a resource"},
		"a call of a wrong form": {"outputs: {a: {'fn::join': [x]}}",
			"program.outputs.a.fn::join (line 3): the argument to fn::join must be a two-valued list"},
		"a resource without a body": {"resources: {a: {type: 'lab:index:Thing'}, b: }",
			"program.resources.b (line 4): resources.b must be an object, and is null"},
		"a file of the controller": {"outputs: {a: {'fn::readFile': /etc/passwd}}",
			"program.outputs.a.fn::readFile (line 3): reads a file outside the workspace of the program"},
	} {
		t.Log(name)
		u.replaceProgram(test.body)
		u.awaitFailure(stack, v1.ProgramInvalidReason, "Program "+u.namespace+"/app is not valid", test.fault)
		u.Eventually(func(g Gomega) {
			g.Expect(u.Get(u.ctx, keyOf(program), program)).To(Succeed())
			g.Expect(conditions.GetMessage(program, meta.ReadyCondition)).To(ContainSubstring(test.fault))
		}).Should(Succeed())
		u.Expect(conditions.GetReason(program, meta.StalledCondition)).To(Equal(v1.ProgramInvalidReason))
		u.checkProgram(program)
		u.Eventually(func(g Gomega) {
			g.Expect(u.programEvents(g)).To(ContainElement(ContainSubstring(test.fault)))
		}).Should(Succeed())
	}
	u.Expect(u.pulumiCalls()).To(BeEmpty())

	u.replaceProgram(oneThing("one"))
	u.awaitReady(stack)
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(program), program)).To(Succeed())
		g.Expect(conditions.IsReady(program)).To(BeTrue())
	}).Should(Succeed())
	u.Expect(conditions.GetMessage(program, meta.ReadyCondition)).To(Equal("Valid program with 1 resource"))
	u.Expect(stack.Status.LastAppliedRevision).To(Equal(fmt.Sprintf("%d@%s", program.Generation, program.Status.Digest)))
	u.checkProgram(program)
}

// TestASectionOfAProgramThatIsNullDeletesNothing: a section left empty by mistake differs from a missing one.
func TestASectionOfAProgramThatIsNullDeletesNothing(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.applyProgram(oneThing("one"))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitReady(stack)
	calls := len(u.pulumiCalls())
	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "app"}}
	for _, test := range []struct{ body, fault string }{
		{"resources:", "program.resources (line 1): resources must be an object, and is null"},
		{"resources: {a: {type: 'lab:index:Thing', properties: }}",
			"program.resources.a.properties (line 3): must be an object, or an expression that is one, and is null"},
		{"resources: {a: {type: 'lab:index:Thing', get: , properties: {name: a, value: one}}}",
			"program.resources.a.get (line 3): get must be an object, and is null"},
	} {
		u.replaceProgram(test.body)
		u.awaitFailure(stack, v1.ProgramInvalidReason, "Program "+u.namespace+"/app is not valid", test.fault)
		u.Eventually(func(g Gomega) {
			g.Expect(u.Get(u.ctx, keyOf(program), program)).To(Succeed())
			g.Expect(conditions.IsFalse(program, meta.ReadyCondition)).To(BeTrue())
			g.Expect(conditions.GetMessage(program, meta.ReadyCondition)).To(ContainSubstring(test.fault))
		}).Should(Succeed())
	}
	u.Expect(u.pulumiCalls()).To(HaveLen(calls))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
	u.Expect(u.Client().Get(u.ctx, keyOf(program), program)).To(Succeed())
	none := client.RawPatch(types.MergePatchType, []byte(`{"program":null}`))
	u.Expect(u.Client().Patch(u.ctx, program, none)).To(MatchError(ContainSubstring("program: Required value")))
}

// programSaying is the Program named app with this text, verbatim.
func (t *tenant) programSaying(body string) *unstructured.Unstructured {
	t.test.Helper()
	said := map[string]any{}
	t.Expect(yaml.Unmarshal([]byte(body), &said)).To(Succeed())
	object := &unstructured.Unstructured{Object: map[string]any{"program": said}}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.ProgramKind))
	object.SetNamespace(t.namespace)
	object.SetName("app")
	return object
}

// applyProgram creates the Program like a client without strict validation.
func (t *tenant) applyProgram(body string) {
	t.test.Helper()
	t.Expect(t.Client().Create(t.ctx, t.programSaying(body), client.FieldValidation(metav1.FieldValidationIgnore))).To(Succeed())
}

// replaceProgram replaces the text of the Program.
func (t *tenant) replaceProgram(body string) {
	t.test.Helper()
	t.Eventually(func() error {
		object := t.programSaying(body)
		now := object.DeepCopy()
		if err := t.Get(t.ctx, keyOf(object), now); err != nil {
			return err
		}
		now.Object["program"] = object.Object["program"]
		return t.Client().Update(t.ctx, now)
	}).Should(Succeed())
}

// checkProgram applies kstatus's rules.
func (t *tenant) checkProgram(program *v1.Program) {
	t.test.Helper()
	checkAsItIs(t, check.NewChecker(nil, &check.Conditions{
		NegativePolarity: []string{meta.StalledCondition, meta.ReconcilingCondition},
	}), program)
}

func (t *tenant) programEvents(g Gomega) []string {
	var events corev1.EventList
	g.Expect(t.List(t.ctx, &events, client.InNamespace(t.namespace))).To(Succeed())
	var reported []string
	for _, event := range events.Items {
		if event.InvolvedObject.Kind == v1.ProgramKind {
			reported = append(reported, event.Message)
		}
	}
	return reported
}
