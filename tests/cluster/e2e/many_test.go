// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/atonce"
)

var many = flag.Int("many", 0, "how many Stacks TestManyRuns brings up at a time: it is left out unless this is set")

const (
	// slots is the default of --concurrent-runs.
	slots = 4
	// alone is the number of Stacks that are brought up one after the other, and atOnce of those that make e2e creates at
	// once.
	alone, atOnce = 5, 50
)

// small is the smallest program, so that only the cost of a run is measured.
const small = "variables: {answer: \"42\"}\noutputs: {value: \"${answer}\"}\n"

// bringUpMany exceeds the slots all the time: it creates 50 Stacks at once, and prints what they cost.
func (w *world) bringUpMany(kind runnerKind) sample {
	w.test.Helper()
	m := *w
	s := m.measure(kind, "many", atOnce)
	m.test.Logf("%d Stacks at once:\n%s", atOnce, table(atOnce, s))
	m.kubectl("--namespace", m.tenant, "delete", "stacks", "--all", "--timeout="+patience.String())
	m.kubectl("delete", "namespace", m.tenant, "--timeout="+patience.String())
	return s
}

// runnerKind is the value of --runner.
type runnerKind string

const (
	localRunner runnerKind = "local"
	jobRunner   runnerKind = "job"
)

func (w *world) bringUpManyLocally() {
	w.needsMinutes()
	w.bringUpMany(localRunner)
}

func (w *world) bringUpManyAsJobs() {
	w.needsMinutes()
	s := w.bringUpMany(jobRunner)
	w.Expect(s.pods).To(Equal(atOnce+alone+1), "each has run once")
	w.Expect(s.mostAtOnce).To(Equal(slots), "as many Jobs as there may be, and no more")
}

// TestManyRuns compares the cost of runs as Jobs with that of the controller's own processes, on the same node and
// backend, and prints a table. It asserts no times, only that the limit of Jobs was kept.
func TestManyRuns(t *testing.T) {
	if *many == 0 {
		t.Skip("this takes minutes and a machine with nothing else to do: go test -timeout 30m ./tests/cluster/e2e -run TestManyRuns -many 50")
	}
	w := newWorld(t)
	w.installFlux()
	w.kubectl("apply", "--server-side", "--force-conflicts", "-k", "config/default")
	w.rolledOut(controller)
	ofLocal := w.measure(localRunner, "many-local", *many)
	w.installForJobs()
	ofJobs := w.measure(jobRunner, "many-jobs", *many)
	t.Logf("\n%s", table(*many, ofLocal, ofJobs))
	w.Expect(ofJobs.mostAtOnce).To(Equal(min(slots, *many)), "as many as there may be, and no more")
}

// sample is the result of a measurement.
type sample struct {
	kind runnerKind
	load string
	// all is from before the first of many Stacks is made until the last is Ready, and oneByOne what each of some takes, brought
	// up one after the other, with runs the time of these that is the runs' own.
	all            time.Duration
	oneByOne, runs []time.Duration
	// pods is how many pods executed the many, and mostAtOnce how many of them at a time.
	pods, mostAtOnce int
	// rss is the most of the controller's process, and pod that of its pod.
	rss, cpu float64
	pod      string
	// writes are requests that change something, by whom.
	writes, allWrites float64
}

// measure brings up some Stacks one after the other, and then that many at once.
func (w *world) measure(kind runnerKind, namespace string, stacks int) sample {
	w.test.Helper()
	w.prepareMany(namespace)
	w.bringUpOne("warm-up")
	var oneByOne, runs []time.Duration
	for i := range alone {
		took, run := w.bringUpOne(fmt.Sprintf("alone-%d", i))
		oneByOne, runs = append(oneByOne, took), append(runs, run)
	}
	s := w.costOf(kind, stacks, stacks+alone+1)
	s.oneByOne, s.runs = oneByOne, runs
	return s
}

// costOf brings up that many Stacks at once, and measures until all of the namespace are Ready.
func (w *world) costOf(kind runnerKind, stacks, all int) sample {
	w.test.Helper()
	load, err := os.ReadFile("/proc/loadavg")
	w.Expect(err).NotTo(HaveOccurred())
	s := sample{kind: kind, load: strings.Fields(string(load))[0]}
	before, beforeAll := w.controllerMetrics(), w.serverWrites()
	began := time.Now()
	w.applyMany(stacks)
	w.awaitMany(all, func() {
		s.rss = max(s.rss, sum(w.controllerMetrics()["process_resident_memory_bytes"], nil))
	})
	s.all = time.Since(began)
	after := w.controllerMetrics()
	s.cpu = sum(after["process_cpu_seconds_total"], nil) - sum(before["process_cpu_seconds_total"], nil)
	s.writes = sum(after["rest_client_requests_total"], isWrite) - sum(before["rest_client_requests_total"], isWrite)
	if kind == jobRunner {
		// The Job controller and the kubelet keep writing a little longer.
		pods := w.endedPods()
		s.pods, s.mostAtOnce = len(pods), atonce.Most(pods)
	}
	s.allWrites = w.serverWrites() - beforeAll
	s.pod = strings.TrimSpace(w.exec("/bin/sh", "-c",
		"busybox cat /sys/fs/cgroup/memory.peak 2>/dev/null || busybox cat /sys/fs/cgroup/memory/memory.max_usage_in_bytes"))
	return s
}

// prepareMany creates the namespace of many Stacks, the bucket for their state, and their program.
func (w *world) prepareMany(namespace string) {
	w.test.Helper()
	w.tenant, w.bucket = namespace, namespace
	w.namespace(namespace)
	w.Expect(w.s3.MakeBucket(w.ctx, w.bucket)).To(Succeed())
	w.apply("apiVersion: pulumi.com/v1\nkind: Program\nmetadata: {name: small, namespace: " + namespace + "}\nprogram:\n" + indent(small))
}

// applyMany creates that many Stacks at once.
func (w *world) applyMany(stacks int) {
	w.test.Helper()
	var manifests []string
	for i := range stacks {
		manifests = append(manifests, w.smallStack(fmt.Sprintf("many-%d", i)))
	}
	w.apply(strings.Join(manifests, "---\n"))
}

// awaitMany waits until that many Stacks of the namespace are Ready. It calls look before each count.
func (w *world) awaitMany(stacks int, look func()) {
	w.test.Helper()
	w.Eventually(func(g Gomega) {
		look()
		var list v1.StackList
		g.Expect(w.List(w.ctx, &list, client.InNamespace(w.tenant))).To(Succeed())
		ready := 0
		for i := range list.Items {
			if conditions.IsReady(&list.Items[i]) {
				ready++
			}
		}
		g.Expect(ready).To(Equal(stacks))
	}).WithTimeout(20 * time.Minute).Should(Succeed())
}

// endedPods returns the pods of the namespace once all of its Jobs have succeeded.
func (w *world) endedPods() []corev1.Pod {
	w.test.Helper()
	w.Eventually(func(g Gomega) {
		var list batchv1.JobList
		g.Expect(w.List(w.ctx, &list, client.InNamespace(w.tenant))).To(Succeed())
		g.Expect(list.Items).To(HaveEach(HaveField("Status.Succeeded", BeEquivalentTo(1))))
	}).Should(Succeed())
	var pods corev1.PodList
	w.Expect(w.List(w.ctx, &pods, client.InNamespace(w.tenant))).To(Succeed())
	return pods.Items
}

func (w *world) smallStack(name string) string {
	return `apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: ` + name + `, namespace: ` + w.tenant + `}
spec:
  stack: ` + name + `
  backend: ` + w.backend() + `
  programRef: {name: small}
  interval: 1h
  envRefs:
` + w.variables()
}

// bringUpOne returns how long it takes until a Stack is Ready, and how long its run took.
func (w *world) bringUpOne(name string) (took, run time.Duration) {
	w.test.Helper()
	began := time.Now()
	w.apply(w.smallStack(name))
	w.Eventually(func(g Gomega) {
		stack := w.stackNow(g, name)
		g.Expect(conditions.IsReady(stack)).To(BeTrue())
		run = stack.Status.History.Latest().LastReconciledDuration.Duration
	}).WithPolling(20 * time.Millisecond).Should(Succeed())
	return time.Since(began), run
}

func (w *world) controllerMetrics() map[string]*dto.MetricFamily {
	w.test.Helper()
	return w.metrics("/api/v1/namespaces/" + fluxSystem + "/pods/" + w.pod().Name + ":8080/proxy/metrics")
}

func (w *world) metrics(path string) map[string]*dto.MetricFamily {
	w.test.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(w.kubectl("get", "--raw", path)))
	w.Expect(err).NotTo(HaveOccurred())
	return families
}

// serverWrites counts everybody's writes, except those of leases, which do not depend on runs, and those of this
// test.
func (w *world) serverWrites() float64 {
	w.test.Helper()
	return sum(w.metrics("/metrics")["apiserver_request_total"], func(labels map[string]string) bool {
		return isVerb(labels["verb"]) && labels["resource"] != "leases" && labels["dry_run"] == ""
	})
}

func isWrite(labels map[string]string) bool { return isVerb(labels["method"]) }

func isVerb(verb string) bool {
	return slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE"}, verb)
}

// sum adds up the counters and gauges whose labels are wanted.
func sum(family *dto.MetricFamily, wanted func(map[string]string) bool) (total float64) {
	for _, metric := range family.GetMetric() {
		labels := map[string]string{}
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = label.GetValue()
		}
		if wanted == nil || wanted(labels) {
			total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return total
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// table shows the samples side by side.
func table(stacks int, samples ...sample) string {
	var text strings.Builder
	row := func(what, format string, value func(sample) any) {
		text.WriteString("| " + what + " |")
		for _, s := range samples {
			fmt.Fprintf(&text, " "+format+" |", value(s))
		}
		text.WriteString("\n")
	}
	row("", "`--runner=%s`", func(s sample) any { return s.kind })
	text.WriteString("|---|" + strings.Repeat("---:|", len(samples)) + "\n")
	row("one Stack, from created to Ready, median", "%.2f s", func(s sample) any { return median(s.oneByOne).Seconds() })
	row("its run, median", "%.2f s", func(s sample) any { return median(s.runs).Seconds() })
	row("**what is not the run**", "%.2f s", func(s sample) any { return (median(s.oneByOne) - median(s.runs)).Seconds() })
	row(fmt.Sprintf("%d Stacks, from the first created to the last Ready", stacks), "%.1f s", func(s sample) any { return s.all.Seconds() })
	row("most pods of runs at a time", "%d", func(s sample) any { return s.mostAtOnce })
	row("memory of the controller's process (resident set), at most", "%.0f MiB", func(s sample) any { return s.rss / (1 << 20) })
	row("memory of the controller's pod, with page cache, at most, bytes", "%s", func(s sample) any { return s.pod })
	row("CPU time of the controller's process for each Stack", "%.3f s", func(s sample) any { return s.cpu / float64(stacks) })
	row("writes of the controller to the API server for each Stack", "%.1f", func(s sample) any { return s.writes / float64(stacks) })
	row("writes of all to the API server for each Stack, making the Stack left out", "%.1f", func(s sample) any { return s.allWrites/float64(stacks) - 1 })
	row("load average of the machine before the many", "%s", func(s sample) any { return s.load })
	return text.String()
}
