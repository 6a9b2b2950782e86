// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// careless is a program whose provider prints its secret input as an output, and then in an error.
const careless = `
configuration:
  password: {type: String, secret: true}
resources:
  a:
    type: lab:index:Thing
    properties: {name: a, secretValue: "${password}", echoInput: true, failures: {FAILURE}}
outputs:
  password: ${password}
  sentence: "it is ${password}, isn't it"
`

func TestSecretValuesAreNowhereToBeSeen(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	canaries := map[string]string{
		"password": "canary-config-5f1c", "passphrase": "canary-passphrase-77a0", "token": "canary-env-e3b4",
	}
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app"}, StringData: canaries})
	program := u.program(strings.Replace(careless, "FAILURE", "", 1))
	u.apply(program)
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.SecretsRef = map[string]v1.ResourceRef{"password": secretKey("app", "password")}
		s.Spec.EnvRefs = map[string]v1.ResourceRef{
			"PULUMI_CONFIG_PASSPHRASE": secretKey("app", "passphrase"), "TOKEN": secretKey("app", "token"),
		}
	})
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(stack.Status.Outputs["password"].Raw).To(MatchJSON(`"[secret]"`))
	u.expectNoCanary(canaries)

	edit(u, program, func(p *v1.Program) {
		u.setProgram(p, strings.Replace(careless, "FAILURE", "update: no luck", 1))
	})
	u.awaitFailure(stack, v1.UpdateFailedReason, "no luck")
	u.Expect(u.logLines(u.namespace, 1000)).To(ContainSubstring("no luck"), "the log is looked at in the right place")
	u.Expect(u.keptOfRuns()).To(And(ContainSubstring("no luck"), ContainSubstring("lab:index:Thing")), "and so is what is kept of runs")
	u.expectNoCanary(canaries)
}

// Pulumi itself masks what it knows to be secret. It does not know a token in the environment, which a program may
// print.
func TestASecretThatAProgramShowsIsMasked(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	const token = "canary-printed-91d7"
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app"}, StringData: map[string]string{"token": token}})
	u.publishFiles("v1", project("lab", oneThing("one")+"  token: it is "+token+" here\n"))
	stack := u.stack(fromArtifact, func(s *v1.Stack) { s.Spec.EnvRefs["TOKEN"] = secretKey("app", "token") })
	u.apply(stack)
	u.awaitReady(stack, atRevision("v1"))
	u.Expect(stack.Status.Outputs["token"].Raw).To(MatchJSON(`"it is *** here"`))

	u.publishFiles("v2", project("lab", oneThing("one", "tags: {x: y}", "failures: {update: no luck with "+token+" today}")))
	u.awaitFailure(stack, v1.UpdateFailedReason, "no luck with *** today")
	u.Expect(u.logLines(u.namespace, 1000)).To(ContainSubstring("no luck with *** today"))
	u.expectNotShown(map[string]string{"token": token})
}

// Some secrets do not reach the run as secrets: resources have secret outputs, and programs create secrets
// themselves.
func TestASecretThatOnlyTheStateHasIsMasked(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	const output = "canary-output-6b02"
	u.publishFiles("v1", project("lab", oneThing("one", "secretValue: "+output)))
	stack := u.stack(fromArtifact)
	u.apply(stack)
	u.awaitReady(stack, atRevision("v1"))

	u.publishFiles("v2", project("lab", "resources:\n"+
		"  one: {type: \"lab:index:Thing\", properties: {name: one, secretValue: "+output+"}}\n"+
		"  two:\n    type: lab:index:Thing\n"+
		"    properties: {name: two, secretValue: \"${one.secretValue}\", echoInput: true, failures: {create: no luck}}\n"))
	u.awaitFailure(stack, v1.UpdateFailedReason, `no luck (input was "***")`)
	u.Expect(u.logLines(u.namespace, 1000)).To(ContainSubstring("no luck"))
	u.expectNoCanary(map[string]string{"the output": output})
}

// A secret in the text of a Program is in no message, event or log.
func TestASecretInTheTextOfAProgramIsMasked(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	const literal, standard = "canary-literal-3d44", "canary-default-a51e"
	u.apply(u.program(`
configuration:
  password: {type: String, secret: true, default: ` + standard + `}
resources:
  a:
    type: lab:index:Thing
    properties: {name: a, secretValue: {"fn::join": ["/", ["${password}", {"fn::secret": ` + literal + `}]]}, echoInput: true, failures: {create: no luck}}
`))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, `no luck (input was "***/***")`)
	u.Expect(u.logLines(u.namespace, 1000)).To(ContainSubstring("no luck"))
	for _, list := range []client.ObjectList{&corev1.EventList{}, &v1.StackList{}} {
		u.Expect(u.asText(list)).NotTo(Or(ContainSubstring(literal), ContainSubstring(standard)))
	}
	log, err := os.ReadFile(u.ControllerLog())
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(string(log)).NotTo(Or(ContainSubstring(literal), ContainSubstring(standard)))
}

// expectNoCanary looks for the values in everything that others than the run may read.
func (t *tenant) expectNoCanary(canaries map[string]string) {
	t.test.Helper()
	t.expectNotShown(canaries)
	for name, canary := range canaries {
		t.Expect(filesWith(t.backend, canary)).To(BeEmpty(), "files of the backend with the value of %s", name)
		t.Expect(filesWith(t.place, canary)).To(BeEmpty(), "files of the cloud with the value of %s", name)
	}
}

// expectNotShown looks for the values in everything that the controller logs, writes and keeps.
func (t *tenant) expectNotShown(canaries map[string]string) {
	t.test.Helper()
	log, err := os.ReadFile(t.ControllerLog())
	t.Expect(err).NotTo(HaveOccurred())
	metrics, err := t.metrics(t.ctx)
	t.Expect(err).NotTo(HaveOccurred())
	calls, err := os.ReadFile(t.callsFile())
	t.Expect(err).NotTo(HaveOccurred())
	texts := map[string]string{
		"the controller's log": string(log),
		"the metrics":          strings.Join(metrics, "\n"),
		"a command line":       string(calls),
		"an event":             t.asText(&corev1.EventList{}),
		"a Stack":              t.asText(&v1.StackList{}),
		"a Program":            t.asText(&v1.ProgramList{}),
		"what is kept of runs": t.keptOfRuns(),
	}
	for name, canary := range canaries {
		for where, text := range texts {
			t.Expect(strings.Contains(text, canary)).To(BeFalse(), "the value of %s is in %s", name, where)
		}
		t.Expect(filesWith(t.DataDir(), canary)).To(BeEmpty(), "files with the value of %s", name)
		t.Expect(filesWith(t.Path("tmp"), canary)).To(BeEmpty(), "files with the value of %s", name)
	}
}

// filesNamed lists the files of that name under dir.
func filesNamed(dir, name string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err == nil && entry.Name() == name {
			found = append(found, path)
		}
		return err
	})
	return found, err
}

// asText returns all objects of a kind in the namespace as the API server returns them.
func (t *tenant) asText(list client.ObjectList) string {
	t.test.Helper()
	t.Expect(t.List(t.ctx, list, client.InNamespace(t.namespace))).To(Succeed())
	text, err := json.Marshal(list)
	t.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// keptOfRuns returns what the ConfigMaps of the Stacks in the namespace have, unpacked: the history with its logs, the
// resources, plans.
func (t *tenant) keptOfRuns() string {
	t.test.Helper()
	list := &corev1.ConfigMapList{}
	t.Expect(t.List(t.ctx, list, client.InNamespace(t.namespace))).To(Succeed())
	var text strings.Builder
	for _, kept := range list.Items {
		if owner := metav1.GetControllerOf(&kept); owner == nil || owner.Kind != v1.StackKind {
			continue
		}
		for name, data := range kept.BinaryData {
			unpacked, err := gzip.NewReader(bytes.NewReader(data))
			t.Expect(err).NotTo(HaveOccurred(), "%s of ConfigMap %s", name, kept.Name)
			_, err = io.Copy(&text, unpacked)
			t.Expect(err).NotTo(HaveOccurred(), "%s of ConfigMap %s", name, kept.Name)
		}
		for _, data := range kept.Data {
			text.WriteString(data)
		}
	}
	return text.String()
}

// filesWith lists the files under dir that have the text in them. Files that go away meanwhile belong to other runs.
func filesWith(dir, text string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil
		case err != nil:
			return err
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if strings.Contains(string(content), text) {
			found = append(found, path)
		}
		return nil
	})
	return found, err
}
