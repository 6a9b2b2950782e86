// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// enforcedIn is how long a network plugin may take for a NetworkPolicy before it is taken for one that does not enforce any.
	enforcedIn = 30 * time.Second
	// enforcedAfter is how many connections in a row that one forbids are not made where it is enforced: one is missed on a node that is
	// slow, too.
	enforcedAfter = 3
	// askedFor is how long pods are asked what they reach until they answer as they should, and whileAsked how long their runs go on:
	// a pod that has ended has no answer, which would be all that a failure tells.
	askedFor, whileAsked = 40 * time.Second, 90 * time.Second
	// listening is the port of the pods of this test that listen.
	listening = "8000"
	// metadata is the address of the metadata service of most clouds.
	metadata = "169.254.169.254"
	// unkept is a namespace without any NetworkPolicy.
	unkept = "unkept"
)

// TestTenantsBehindNetworkPolicies sees Flux's NetworkPolicies, that of config/runner-jobs and that of docs/runners.md enforced:
// runs are done behind them, and reach what the page says and nothing else. Where nothing enforces them, it is skipped.
func TestTenantsBehindNetworkPolicies(t *testing.T) {
	w := newWorld(t).team("team-a")
	w.needPolicies()
	w.steps(
		step{"Flux is installed", (*world).installFlux},
		step{"config/default is installed with config/runner-jobs", (*world).installForJobs},
		step{"Stacks behind policies are ready, and their events arrive", (*world).bringUpBehindPolicies},
		step{"runs reach what they need and nothing else", (*world).lookAtNetwork},
		step{"Stacks are destroyed", (*world).destroyAll},
	)
}

// needPolicies skips the test where a connection is made that a NetworkPolicy forbids.
func (w *world) needPolicies() {
	w.test.Helper()
	const namespace = "policies"
	w.namespace(namespace)
	defer w.kubectl("delete", "namespace", namespace, "--wait=false")
	one, another := w.startPod(namespace, "one", ""), w.startPod(namespace, "another", "")
	to := []target{{name: "another", try: connect(w.addressOf(another), listening)}}
	w.Eventually(func() ([]string, error) { return w.reached(one, to) }).Should(HaveLen(1), "pods reach each other without policies")
	w.apply(`apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: nobody, namespace: ` + namespace + `}
spec: {podSelector: {}, policyTypes: [Ingress, Egress]}
`)
	missed := 0
	err := wait.PollUntilContextTimeout(w.ctx, polling, enforcedIn, true, func(context.Context) (bool, error) {
		reached, err := w.reached(one, to)
		if missed++; len(reached) > 0 {
			missed = 0
		}
		return missed == enforcedAfter, err
	})
	if wait.Interrupted(err) {
		w.test.Skipf("SKIPPED: nothing on this cluster enforces NetworkPolicies. A connection that one forbids was still made after %s. "+
			"That of config/runner-jobs and that of docs/runners.md are not tried here: take a cluster whose network plugin enforces them", enforcedIn)
	}
	w.Expect(err).NotTo(HaveOccurred())
}

// bringUpBehindPolicies has Stacks of a Program and of an artifact in a namespace that is kept from the network from its beginning,
// and a second team that is kept in the same way.
func (w *world) bringUpBehindPolicies() {
	other := w.otherTeam()
	for _, team := range []*world{w, other} {
		team.bringUpTeam()
		team.Expect(team.Create(w.ctx, team.policyOfTenant())).To(Succeed())
	}
	other.program("other")
	other.apply(other.stack("other", "  programRef: {name: other}", "one", "0s"))
	w.bringUpStacks()
	other.awaitValue("other", "one")
}

// lookAtNetwork asks the pods of two teams' runs in flight, of which one is asked for, what they reach.
func (w *world) lookAtNetwork() {
	other := w.otherTeam()
	w.namespace(unkept)
	defer w.kubectl("delete", "namespace", unkept, "--wait=false")
	labelled := w.startPod(unkept, "labelled", "pulumi.com/run: labelled")
	plain := w.startPod(unkept, "plain", "")
	w.standInForMetadata()
	before, beforeOther := len(w.updates("fromgit")), len(other.updates("other"))
	begun := w.beginJobs(begins{w, "fromgit", "asked", whileAsked}, begins{other, "other", "asked", whileAsked})
	ours := caller{w.tenant, begun[0].pod.Name, "pulumi"}
	theirs := caller{other.tenant, begun[1].pod.Name, "pulumi"}
	w.kubectl(theirs.exec("busybox", "httpd", "-p", listening, "-h", "/tmp")...)
	to := w.targets(begun[1].pod, plain)

	w.Eventually(func(g Gomega) {
		for _, one := range []struct {
			who    string
			caller caller
			may    func(target) bool
		}{
			{"the pod of a run in a namespace with the policy of docs/runners.md", ours, func(t target) bool { return t.kept }},
			{"a pod with the label of runs, in a namespace without a policy", labelled, func(t target) bool { return t.labelled }},
			{"any other pod", plain, func(t target) bool { return t.anybody }},
		} {
			var expected []string
			for _, target := range to {
				if one.may(target) {
					expected = append(expected, target.name)
				}
			}
			reached, err := w.reached(one.caller, to)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(reached).To(ConsistOf(expected), "what is reached by %s", one.who)
		}
	}).WithTimeout(askedFor).Should(Succeed())
	w.listens(theirs, to)

	w.awaitValue("fromgit", "asked")
	other.awaitValue("other", "asked")
	w.updatedOnce("fromgit", before)
	other.updatedOnce("other", beforeOther)
}

// listens says that what nobody reaches is there to be reached: by who has a right to it.
func (w *world) listens(theirs caller, to []target) {
	w.test.Helper()
	reachable := map[string]bool{}
	for _, one := range []caller{{fluxSystem, w.pod().Name, "manager"}, theirs} {
		reached, err := w.reached(one, to)
		w.Expect(err).NotTo(HaveOccurred())
		for _, name := range reached {
			reachable[name] = true
		}
	}
	for _, target := range to {
		w.Expect(target.kept || target.labelled || target.anybody || reachable[target.name]).To(BeTrue(), "something has to listen: %s", target.name)
	}
}

// target is something to be reached.
type target struct {
	name string
	// try is a command that succeeds if it is reached.
	try string
	// kept tells whether runs of a namespace with the policy of docs/runners.md reach it, labelled whether pods with the label of runs
	// do in a namespace without a policy, and anybody whether all other pods do.
	kept, labelled, anybody bool
}

// targets are what docs/runners.md speaks of. The pods listen: that of another tenant, and one of a namespace without a policy.
func (w *world) targets(tenant corev1.Pod, open caller) []target {
	w.test.Helper()
	service := func(name, namespace string) string { return name + "." + namespace + ".svc.cluster.local." }
	addressOfFlux := func(app string) string {
		var list corev1.PodList
		w.Expect(w.List(w.ctx, &list, client.InNamespace(fluxSystem), client.MatchingLabels{"app": app})).To(Succeed())
		w.Expect(list.Items).To(HaveLen(1))
		return list.Items[0].Status.PodIP
	}
	artifact := w.kubectl("--namespace", w.tenant, "get", "gitrepository", "program", "-o", "jsonpath={.status.artifact.url}")
	host, port, _ := strings.Cut(strings.TrimPrefix(w.s3.Endpoint(), "http://"), ":")
	ours, sources := addressOfFlux(controller), addressOfFlux("source-controller")
	notifications := service("notification-controller", fluxSystem)
	found := []target{
		{"an artifact", "busybox wget -q -T 3 -O /dev/null " + artifact, true, true, false},
		{"the API server", connect(service("kubernetes", "default"), "443"), true, true, true},
		{"DNS", "busybox nslookup " + service("kubernetes", "default"), true, true, true},
		{"the outside", connect(host, port), true, true, true},
		{"the controller's probes", connect(ours, "9440"), false, false, false},
		{"the controller's metrics", connect(ours, "8080"), false, true, true},
		{"source-controller's metrics", connect(sources, "8080"), false, true, true},
		{"notification-controller's events", connect(notifications, "80"), false, false, false},
		{"notification-controller's receivers", connect(service("webhook-receiver", fluxSystem), "80"), false, true, true},
		{"a pod of another tenant", connect(tenant.Status.PodIP, listening), false, false, false},
		{"a pod that no policy is about", connect(w.addressOf(open), listening), false, true, true},
		{"the kubelet", connect(tenant.Status.HostIP, "10250"), false, true, true},
	}
	// On a cluster that is there, nobody knows whether it has one.
	if w.node != nil {
		found = append(found, target{"the metadata service", connect(metadata, "80"), false, true, true})
	}
	return found
}

// connect is a command that makes a connection and ends it.
func connect(host, port string) string {
	return fmt.Sprintf("busybox nc -w 3 %s %s -e busybox true", host, port)
}

// caller is a container from which others are called.
type caller struct{ namespace, pod, container string }

func (c caller) exec(command ...string) []string {
	return append([]string{"--namespace", c.namespace, "exec", c.pod, "--container=" + c.container, "--"}, command...)
}

// reached returns the names of the targets that are reached now.
func (w *world) reached(from caller, to []target) (names []string, err error) {
	w.test.Helper()
	var script strings.Builder
	for i, target := range to {
		fmt.Fprintf(&script, "{ %s </dev/null >/dev/null 2>&1 && echo %d; } &\n", target.try, i)
	}
	output, err := w.tryKubectl(from.exec("/bin/sh", "-c", script.String()+"wait")...)
	if err != nil {
		return nil, fmt.Errorf("asking %s/%s what it reaches: %w: %s", from.namespace, from.pod, err, output)
	}
	for _, line := range strings.Fields(output) {
		var i int
		if _, err := fmt.Sscan(line, &i); err != nil || i >= len(to) {
			return nil, fmt.Errorf("asking %s/%s what it reaches: it said %q", from.namespace, from.pod, output)
		}
		names = append(names, to[i].name)
	}
	return names, nil
}
