// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// enforcedIn is how long a network plugin may take to enforce a NetworkPolicy before it is taken to enforce none.
	enforcedIn = 30 * time.Second
	// enforcedAfter is how many forbidden connections in a row must fail to prove enforcement: on a slow node one may
	// fail anyway.
	enforcedAfter = 3
	// askedFor bounds the time until pods reach what they should, and whileAsked is how long their runs last: a pod
	// that has ended gives no answer, and a failure would show only that.
	askedFor, whileAsked = 40 * time.Second, 90 * time.Second
	// listening is the port of this test's listening pods.
	listening = "8000"
	// metadata is the address of the metadata service of most clouds.
	metadata = "169.254.169.254"
	// unkept is a namespace without any NetworkPolicy.
	unkept = "unkept"
)

// TestTenantsBehindNetworkPolicies checks runs under Flux's NetworkPolicies, that of config/runner-jobs and that of
// docs/runners.md: they work, and reach only what the page says. It is skipped where nothing enforces policies.
func TestTenantsBehindNetworkPolicies(t *testing.T) {
	if testing.Short() && os.Getenv("KUBECONFIG") == "" {
		t.Skip("SKIPPED: the node of these tests enforces no NetworkPolicies, and -short is set")
	}
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

// needPolicies skips the test if a connection succeeds that a NetworkPolicy forbids.
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

// bringUpBehindPolicies creates Stacks of a Program and of an artifact in a namespace isolated from the start, and a
// second team isolated in the same way.
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

// lookAtNetwork asks the pod of one of two teams' runs in flight, and pods of no run, what they can reach.
func (w *world) lookAtNetwork() {
	other := w.otherTeam()
	w.namespace(unkept)
	defer w.kubectl("delete", "namespace", unkept, "--wait=false")
	labelled := w.startPod(unkept, "labelled", "pulumi.com/run: labelled")
	plain := w.startPod(unkept, "plain", "")
	w.standInForMetadata()
	before, beforeOther := len(w.updates("fromgit")), len(other.updates("other"))
	started := w.beginJobs(begins{w, "fromgit", "asked", whileAsked}, begins{other, "other", "asked", whileAsked})
	ours := caller{w.tenant, started[0].pod.Name, "pulumi"}
	theirs := caller{other.tenant, started[1].pod.Name, "pulumi"}
	w.kubectl(theirs.exec("busybox", "httpd", "-p", listening, "-h", "/tmp")...)
	to := w.targets(started[1].pod, plain)

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

// listens expects that targets nobody may reach do listen, by asking a pod that may.
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

// target is something to reach.
type target struct {
	name string
	// try is a command that succeeds if the target is reached.
	try string
	// kept reports whether runs of a namespace with the policy of docs/runners.md reach it, labelled whether pods with the label of runs
	// do in a namespace without a policy, and anybody whether all other pods do.
	kept, labelled, anybody bool
}

// targets returns the targets that docs/runners.md mentions. The pods listen: one of another tenant, and one in a
// namespace without a policy.
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
	// An existing cluster may have one or not.
	if w.node != nil {
		found = append(found, target{"the metadata service", connect(metadata, "80"), false, true, true})
	}
	return found
}

// connect returns a command that opens a connection and closes it.
func connect(host, port string) string {
	return fmt.Sprintf("busybox nc -w 3 %s %s -e busybox true", host, port)
}

// caller is a container to open connections from.
type caller struct{ namespace, pod, container string }

func (c caller) exec(command ...string) []string {
	return append([]string{"--namespace", c.namespace, "exec", c.pod, "--container=" + c.container, "--"}, command...)
}

// reached returns the names of the targets that can be reached now.
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
