// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// whoami is a program that tells who it is in the cluster, each time that it is asked.
const whoami = `
configuration:
  asked: {type: String}
resources:
  who:
    type: lab:kube:Whoami
    properties: {asked: "${asked}"}
outputs:
  username: ${who.username}
  kubeconfig: ${who.kubeconfig}
  variable: ${who.variable}
`

func account(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// asking has the program tell who it is with an account, for the first time or again.
func asking(account, asked string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Spec.ServiceAccountName = account
		s.Spec.Config["asked"] = jsonText(asked)
	}
}

// textOf is an output that is text.
func (t *tenant) textOf(stack *v1.Stack, output string) string {
	t.test.Helper()
	var text string
	t.Expect(json.Unmarshal(stack.Status.Outputs[output].Raw, &text)).To(Succeed())
	return text
}

func TestAProgramIsTheServiceAccountOfItsStackAndNobodyWithoutOne(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(account("deployer"))
	u.apply(account("reader"))
	u.apply(u.program(whoami))
	stack := u.stack(fromProgram, asking("deployer", "first"))
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "username")).To(Equal("system:serviceaccount:" + u.namespace + ":deployer"))
	path := u.textOf(stack, "kubeconfig")
	u.Expect(path).To(And(HavePrefix(u.DataDir()), HaveSuffix("/home/.kube/config")))
	u.Expect(u.textOf(stack, "variable")).To(BeEmpty(), "an SDK would put it into the state, and the next run has another path")
	_, err := os.Stat(path)
	u.Expect(os.IsNotExist(err)).To(BeTrue(), "the kubeconfig goes with the run: %v", err)

	edit(u, stack, asking("reader", "second"))
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "username")).To(Equal("system:serviceaccount:" + u.namespace + ":reader"))
	u.Expect(u.textOf(stack, "kubeconfig")).NotTo(Equal(path))

	edit(u, stack, asking("", "third"))
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "kubeconfig")).To(Equal("none"))
	u.Expect(u.textOf(stack, "username")).To(BeEmpty())
}

func TestAServiceAccountThatIsMissingIsNamedAndWaitedFor(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, destroyed, func(s *v1.Stack) { s.Spec.ServiceAccountName = "late" })
	u.apply(stack)
	missing := "service account '" + u.namespace + "/late' not found: create it, or name another in spec.serviceAccountName"
	u.awaitFailure(stack, v1.ServiceAccountFailedReason, missing)
	u.Expect(u.pulumiCalls()).To(BeEmpty(), "nothing is run without it")
	u.Expect(stack.Finalizers).To(BeEmpty(), "and no run is recorded")

	late := account("late")
	u.apply(late)
	u.awaitReady(stack)
	u.kept("app", "one")

	u.delete(late)
	u.delete(stack)
	u.awaitNotReady(stack, v1.ServiceAccountFailedReason, []string{missing})
	u.kept("app", "one")

	u.apply(account("late"))
	u.awaitGone(stack)
	u.Expect(u.things()).To(BeEmpty())
}

func TestAKubeconfigOfOnesOwnAndAnAccountExcludeEachOther(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.ServiceAccountName = "deployer"
		s.Spec.EnvRefs["KUBECONFIG"] = literal("/nowhere")
	})
	u.apply(stack)
	u.awaitStalled(stack, v1.InvalidSpecReason, "spec.envRefs.KUBECONFIG", "remove one of the two")

	edit(u, stack, func(s *v1.Stack) { s.Spec.ServiceAccountName = "" })
	u.awaitReady(stack)
}

// tellsItsToken is a program that puts its token where others can read it, and fails with it on request.
const tellsItsToken = `
configuration:
  asked: {type: String}
resources:
  who:
    type: lab:kube:Whoami
    properties: {asked: "${asked}", showToken: true}
  a:
    type: lab:index:Thing
    properties: {name: a, FAILURE}
outputs:
  token: it is ${who.token} here
`

func TestTheTokenOfAnAccountIsNowhereToBeSeen(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(account("deployer"))
	program := u.program(strings.Replace(tellsItsToken, "FAILURE", "value: one", 1))
	u.apply(program)
	stack := u.stack(fromProgram, asking("deployer", "first"))
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "token")).To(Equal("it is *** here"))
	first := u.tokenInState()
	u.Expect(first).To(HavePrefix("eyJ"), "the program had a token")
	u.expectNotShown(map[string]string{"token": first})

	edit(u, program, func(p *v1.Program) {
		u.setProgram(p, strings.Replace(tellsItsToken, "FAILURE", `value: two, failures: {update: "no luck with ${who.token} today"}`, 1))
	})
	u.awaitFailure(stack, v1.UpdateFailedReason, "no luck with *** today")
	u.Expect(u.tokenInState()).To(Equal(first), "it is the one that an earlier run had")
	u.expectNotShown(map[string]string{"token": first})

	edit(u, stack, asking("deployer", "second"))
	u.Eventually(u.tokenInState).ShouldNot(Equal(first))
	u.awaitFailure(stack, v1.UpdateFailedReason, "no luck with *** today")
	u.expectNotShown(map[string]string{"token": first, "next token": u.tokenInState()})
}

// tokenInState is the token that the state has in the outputs of a Whoami.
func (t *tenant) tokenInState() string {
	t.test.Helper()
	text, err := os.ReadFile(t.stateFile("app", "dev"))
	t.Expect(err).NotTo(HaveOccurred())
	var state struct {
		Checkpoint struct {
			Latest struct {
				Resources []struct {
					Type    string
					Outputs map[string]any
				}
			}
		}
	}
	t.Expect(json.Unmarshal(text, &state)).To(Succeed())
	for _, resource := range state.Checkpoint.Latest.Resources {
		if resource.Type == "lab:kube:Whoami" {
			token, _ := resource.Outputs["token"].(string)
			return token
		}
	}
	return ""
}
