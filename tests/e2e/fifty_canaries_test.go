// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// ways counts the secrets by the way in which they reach a run. The names of the values begin with the way.
var ways = map[string]int{
	"config":     15, // secretsRef
	"member":     7,  // of a secretsRef that is an object in JSON
	"env":        10, // envRefs
	"listed":     10, // envSecrets
	"literal":    5,  // fn::secret in the program, and so an output of a provider
	"passphrase": 1,
	"token":      1, // accessTokenSecret
	"git":        1, // gitAuth
}

// fiftyCanaries returns fifty values, each used in one place only.
func fiftyCanaries() map[string]string {
	canaries := map[string]string{}
	for way, count := range ways {
		for i := range count {
			name := fmt.Sprintf("%s%02d", way, i)
			canaries[name] = fmt.Sprintf("canary-%s-%04x", name, 7919*(i+1)+len(way))
		}
	}
	return canaries
}

// namesOf returns the names of the values that reach a run in one way.
func namesOf(way string, canaries map[string]string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(canaries)) {
		if strings.HasPrefix(name, way) {
			names = append(names, name)
		}
	}
	return names
}

// chatter is a program that outputs all the values it is given, and passes all of them in one string to a provider
// that prints it when it fails.
func chatter(canaries map[string]string, failures string) string {
	var config, resources, outputs, all []string
	for _, name := range namesOf("config", canaries) {
		config = append(config, fmt.Sprintf("  %s: {type: string, secret: true}", name))
		all = append(all, fmt.Sprintf("%q", "${"+name+"}"))
	}
	// Pulumi parses a string that is JSON.
	config = append(config, "  members: {type: string, secret: true}")
	all = append(all, "{'fn::toJSON': '${members}'}")
	for _, name := range namesOf("literal", canaries) {
		resources = append(resources, fmt.Sprintf("  %s: {type: 'lab:index:Thing', properties: {name: %s, secretValue: {'fn::secret': %s}}}", name, name, canaries[name]))
		all = append(all, fmt.Sprintf("%q", "${"+name+".secretValue}"))
	}
	resources = append(resources, fmt.Sprintf(
		"  all: {type: 'lab:index:Thing', properties: {name: all, echoInput: true, failures: {%s}, secretValue: {'fn::join': [' ', [%s]]}}}", failures, strings.Join(all, ", ")))
	for i, value := range all {
		outputs = append(outputs, fmt.Sprintf("  output%02d: %s", i, value))
	}
	return "config:\n" + strings.Join(config, "\n") + "\nresources:\n" + strings.Join(resources, "\n") + "\noutputs:\n" + strings.Join(outputs, "\n") + "\n"
}

// secretOf keeps the values of one way in a Secret of that name.
func (t *tenant) secretOf(way string, canaries map[string]string) []string {
	t.test.Helper()
	names, data := namesOf(way, canaries), map[string]string{}
	for _, name := range names {
		data[name] = canaries[name]
	}
	t.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: way}, StringData: data})
	return names
}

func TestFiftySecretsAreNowhereToBeSeen(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	canaries := fiftyCanaries()
	u.Expect(canaries).To(HaveLen(50))
	repo, first := u.repository(project("lab", chatter(canaries, "")))
	guarded := u.guarded("me")
	guarded.SetPassword(canaries["git00"])
	members := map[string]string{}
	for _, name := range namesOf("member", canaries) {
		members[name] = canaries[name]
	}
	object, err := json.Marshal(members)
	u.Expect(err).NotTo(HaveOccurred())
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "object"}, StringData: map[string]string{"members": string(object)}})
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cloud"}, StringData: map[string]string{"accessToken": canaries["token00"]}})
	for _, way := range []string{"passphrase", "git", "listed"} {
		u.secretOf(way, canaries)
	}
	auth := &v1.GitAuth{BasicAuth: &v1.GitBasicAuth{UserName: literal("me"), Password: secretKey("git", "git00")}}
	stack := u.stack(onBranch(guarded.URLOf(repo), auth), handsOn("outputs"), func(s *v1.Stack) {
		s.Spec.AccessTokenSecret, s.Spec.EnvSecrets = "cloud", []string{"listed"}
		s.Spec.EnvRefs = map[string]v1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": secretKey("passphrase", "passphrase00")}
		s.Spec.SecretsRef = map[string]v1.ResourceRef{"members": secretKey("object", "members")}
		for _, name := range u.secretOf("config", canaries) {
			s.Spec.SecretsRef[name] = secretKey("config", name)
		}
		for _, name := range u.secretOf("env", canaries) {
			s.Spec.EnvRefs[name] = secretKey("env", name)
		}
	})
	u.apply(stack)
	u.awaitReady(stack, atRevision(revisionOf(first)))
	u.expectHidden(canaries)
	outputs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "outputs", Namespace: u.namespace}}
	u.Expect(u.Get(u.ctx, keyOf(outputs), outputs)).To(Succeed())
	u.Expect(string(outputs.Data["output00"])).To(Equal(canaries["config00"]), "the values are what the run was given")

	u.commitTo(repo, project("lab", chatter(canaries, "update: no luck")))
	request(u, stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, "no luck")
	u.Expect(u.logLines(u.namespace, 1000)).To(ContainSubstring("no luck"), "the log is looked at in the right place")
	u.expectHidden(canaries)
}

// expectHidden looks for the values in everything that others than the run may read, including the objects of Flux.
func (t *tenant) expectHidden(canaries map[string]string) {
	t.test.Helper()
	t.expectNotShown(canaries)
	repositories := t.asText(&sourcev1.GitRepositoryList{})
	for name, canary := range canaries {
		t.Expect(repositories).NotTo(ContainSubstring(canary), "the value of %s is in a GitRepository", name)
		t.Expect(filesWith(t.backend, canary)).To(BeEmpty(), "files of the backend with the value of %s", name)
	}
	runs, err := os.Stat(filepath.Join(t.DataDir(), "runs"))
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(runs.Mode().Perm()).To(BeEquivalentTo(0o700), "the files of a run are for nobody else")
}
