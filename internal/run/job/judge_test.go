// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

var at = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

func aSecret(data ...string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pulumi-run-1"}, Data: map[string][]byte{}}
	for i := 0; i+1 < len(data); i += 2 {
		secret.Data[data[i]] = []byte(data[i+1])
	}
	return secret
}

// claimed is the Secret of a run that a pod has claimed and reported progress of.
func claimed() *corev1.Secret {
	report, _ := json.Marshal(exchange.ProgressReport{Progress: run.Progress{Done: run.Changes{Created: 2}, InFlight: 1}, UnknownCreates: []string{"urn:a"}})
	return aSecret(exchange.ClaimKey, "{}", exchange.ProgressKey, string(report))
}

func immutableSecret() *corev1.Secret {
	secret := claimed()
	secret.Immutable = ptr.To(true)
	return secret
}

func resulted(ended run.Result) *corev1.Secret {
	data, _ := exchange.EncodeResult(run.Update, ended)
	return aSecret(exchange.ClaimKey, "{}", exchange.ResultKey, string(data))
}

func aJob(conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "pulumi-run-1", CreationTimestamp: metav1.NewTime(at)}, Status: batchv1.JobStatus{Conditions: conditions}}
}

func suspendedJob() *batchv1.Job {
	job := aJob()
	job.Spec.Suspend = ptr.To(true)
	return job
}

func failedJob(reason, message string) *batchv1.Job {
	return aJob(batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: reason, Message: message})
}

func aPod(phase corev1.PodPhase, change ...func(*corev1.Pod)) []corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pulumi-run-1-x"}, Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{Phase: phase}}
	for _, c := range change {
		c(&pod)
	}
	return []corev1.Pod{pod}
}

func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: mainContainer, Image: "nowhere/pulumi:1",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	}
}

func terminated(code int32, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: mainContainer,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}}}
	}
}

// withLimit is a pod as the cache keeps it.
func withLimit(memory string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: "proxy"}, {Name: mainContainer, Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourceCPU: resource.MustParse("1")},
		}}}
		_, _ = slim(p) // changes the pod, and never fails
	}
}

func withCondition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Reason: reason, Message: message})
	}
}

// sideCar adds a running sidecar.
func sideCar(p *corev1.Pod) {
	p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "proxy",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
}

func evicted(p *corev1.Pod) {
	p.Status.Reason, p.Status.Message = "Evicted", "The node was low on resource: memory."
}

func TestTheVerdictOnARun(t *testing.T) {
	for name, tt := range map[string]struct {
		secret *corev1.Secret
		job    *batchv1.Job
		pods   []corev1.Pod
		// outcome is empty for a run in flight.
		outcome                run.Outcome
		interrupted, unclaimed bool
		message                string // or, in flight, what it waits for
	}{
		"a Job without a pod yet": {aSecret(), aJob(), nil, "", false, false, "waits for its pod"},
		"a pod that is starting":  {aSecret(), aJob(), aPod(corev1.PodPending), "", false, false, "is starting"},
		"an unschedulable pod":    {aSecret(), aJob(), aPod(corev1.PodPending, withCondition(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/3 nodes are available")), "", false, false, "waits for a node: 0/3 nodes are available (Unschedulable)"},
		"a pod at work":           {claimed(), aJob(), aPod(corev1.PodRunning), "", false, false, ""},
		"a first pull that fails": {aSecret(), aJob(), aPod(corev1.PodPending, waiting("ErrImagePull", "no such host")), "", false, false, "cannot be started yet: container pulumi, image nowhere/pulumi:1: no such host (ErrImagePull)"},
		"a kubelet that has yet to read": {aSecret(), aJob(), aPod(corev1.PodPending, waiting("CreateContainerConfigError", "failed to sync configmap cache: timed out waiting for the condition")), "", false, false,
			"cannot be started yet: container pulumi, image nowhere/pulumi:1: failed to sync configmap cache"},
		"a sidecar that crashes": {aSecret(), aJob(), aPod(corev1.PodPending, waiting("CrashLoopBackOff", "back-off 10s restarting")), "", false, false, "cannot be started yet: container pulumi, image nowhere/pulumi:1: back-off 10s restarting (CrashLoopBackOff)"},
		"a second pod that is pending": {aSecret(), aJob(), append(aPod(corev1.PodFailed), corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "second"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}),
			"", false, false, "pod second is starting"},
		"a second pod after a stuck one": {aSecret(), aJob(), append(aPod(corev1.PodFailed, waiting("CreateContainerError", "x")),
			corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "second"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}), "", false, false, "pod second is starting"},
		"a missing image":             {aSecret(), aJob(), aPod(corev1.PodPending, waiting("ImagePullBackOff", "no such host")), run.PodFailed, false, true, "image nowhere/pulumi:1: no such host (ImagePullBackOff)"},
		"an invalid image name":       {aSecret(), aJob(), aPod(corev1.PodPending, waiting("InvalidImageName", "")), run.PodFailed, false, true, "InvalidImageName"},
		"a missing Secret":            {aSecret(), aJob(), aPod(corev1.PodPending, waiting("CreateContainerConfigError", `secret "npm" not found`)), run.PodFailed, false, true, `secret "npm" not found`},
		"a sidecar that cannot start": {claimed(), aJob(), aPod(corev1.PodRunning, waiting("ImagePullBackOff", "x")), "", false, false, ""},

		"a result":                     {resulted(run.Result{Outcome: run.Succeeded}), aJob(), aPod(corev1.PodRunning), run.Succeeded, false, false, ""},
		"a result without Job and pod": {resulted(run.Result{Outcome: run.Failed, Message: "no"}), nil, nil, run.Failed, false, false, "no"},
		"a result from an evicted pod": {resulted(run.Result{Outcome: run.Cancelled, Message: "x"}), failedJob("PodFailurePolicy", ""), aPod(corev1.PodFailed, evicted),
			run.PodFailed, false, false, "evicted from node node-1: The node was low on resource: memory."},
		"a result from a deleted pod":  {resulted(run.Result{Outcome: run.Cancelled, Message: "x"}), failedJob("BackoffLimitExceeded", ""), nil, run.PodFailed, false, false, "was terminated: the pod of Job pulumi-run-1 was deleted"},
		"a result that cannot be read": {aSecret(exchange.ClaimKey, "{}", exchange.ResultKey, "x"), aJob(), nil, run.PodFailed, true, false, "reading the result"},

		"suspended before a claim":       {aSecret(), suspendedJob(), nil, "", false, false, "Job pulumi-run-1 is suspended"},
		"suspended while its pod starts": {aSecret(), suspendedJob(), aPod(corev1.PodFailed), "", false, false, "Job pulumi-run-1 is suspended"},
		"suspended past its deadline": {aSecret(), func() *batchv1.Job {
			job := failedJob("DeadlineExceeded", "x")
			job.Spec.Suspend = ptr.To(true)
			return job
		}(), aPod(corev1.PodFailed), run.PodFailed, false, true, "reached its deadline"},
		"suspended, pod still running":  {claimed(), suspendedJob(), aPod(corev1.PodRunning), "", false, false, ""},
		"suspended after the claim":     {claimed(), suspendedJob(), nil, run.PodFailed, true, false, "Job pulumi-run-1 was suspended, which ended its pod"},
		"a result from a suspended Job": {resulted(run.Result{Outcome: run.Cancelled, Message: "x"}), suspendedJob(), nil, run.PodFailed, false, false, "was terminated: Job pulumi-run-1 was suspended"},
		"a result from a killed pod": {
			resulted(run.Result{Outcome: run.Cancelled, Interrupted: true, Message: "cancelled: SIGTERM; Pulumi had to be killed"}), suspendedJob(), nil,
			run.PodFailed, true, false, "Job pulumi-run-1 was suspended, which ended its pod; cancelled: SIGTERM; Pulumi had to be killed"},

		"out of memory, sidecar running":      {claimed(), aJob(), aPod(corev1.PodRunning, terminated(137, "OOMKilled", ""), sideCar), run.PodFailed, true, false, "exceeded its memory limit (OOMKilled)"},
		"killed, sidecar running":             {claimed(), aJob(), aPod(corev1.PodRunning, terminated(137, "Error", ""), sideCar), run.PodFailed, true, false, "was killed: exit code 137"},
		"result not written, sidecar running": {claimed(), aJob(), aPod(corev1.PodRunning, terminated(ExitNotReported, "Error", ""), sideCar), run.PodFailed, true, false, "could not write the result"},
		"not started, sidecar running":        {aSecret(), aJob(), aPod(corev1.PodRunning, terminated(ExitNotStarted, "Error", ""), sideCar), run.PodFailed, false, true, "did not start the run"},
		"a sidecar that has ended":            {claimed(), aJob(), aPod(corev1.PodRunning, terminated(0, "Completed", ""), func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Name = "proxy" }), "", false, false, ""},
		"a pod its node rejects": {aSecret(), aJob(), aPod(corev1.PodFailed, func(p *corev1.Pod) {
			p.Status.Reason, p.Status.Message = "OutOfcpu", "Pod was rejected: not enough cpu"
		}), run.PodFailed, false, true, "pod pulumi-run-1-x was terminated by node node-1: Pod was rejected: not enough cpu (OutOfcpu); Pulumi was not started"},

		"killed with its pod": {claimed(), aJob(), aPod(corev1.PodFailed, terminated(137, "Error", "")), run.PodFailed, true, false, "was killed: exit code 137"},
		"a sidecar out of memory": {claimed(), aJob(), aPod(corev1.PodFailed, terminated(137, "OOMKilled", ""), func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Name = "proxy" }),
			run.PodFailed, true, false, "container proxy of pod pulumi-run-1-x exceeded its memory limit (OOMKilled): raise limits.memory of that container in spec.workspaceTemplate.spec.podTemplate"},
		"out of memory, with a limit": {claimed(), aJob(), aPod(corev1.PodFailed, terminated(137, "OOMKilled", ""), withLimit("512Mi")), run.PodFailed, true, false,
			"container pulumi of pod pulumi-run-1-x exceeded its memory limit of 512Mi (OOMKilled): raise spec.workspaceTemplate.spec.resources.limits.memory"},
		"out of memory":                {claimed(), aJob(), aPod(corev1.PodFailed, terminated(137, "OOMKilled", "")), run.PodFailed, true, false, "raise spec.workspaceTemplate.spec.resources.limits.memory"},
		"evicted":                      {claimed(), aJob(), aPod(corev1.PodFailed, evicted), run.PodFailed, true, false, "was evicted from node node-1"},
		"preempted":                    {claimed(), aJob(), aPod(corev1.PodFailed, withCondition(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler", "x")), run.PodFailed, true, false, "higher priority"},
		"drained":                      {claimed(), aJob(), aPod(corev1.PodFailed, withCondition(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI", "x")), run.PodFailed, true, false, "drained"},
		"lost with its node":           {claimed(), aJob(), aPod(corev1.PodFailed, withCondition(corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByPodGC", "x")), run.PodFailed, true, false, "lost with its node"},
		"the pod deleted":              {claimed(), failedJob("BackoffLimitExceeded", ""), nil, run.PodFailed, true, false, "the pod of Job pulumi-run-1 was deleted"},
		"the Job deleted":              {claimed(), nil, nil, run.PodFailed, true, false, "Job pulumi-run-1 of the run is gone: it was deleted, or ended and expired (ttlSecondsAfterFinished)"},
		"the Job deleted in mid-run":   {claimed(), nil, aPod(corev1.PodRunning), "", false, false, ""},
		"the deadline":                 {claimed(), failedJob("DeadlineExceeded", "was active longer"), nil, run.PodFailed, true, false, "deadline"},
		"a pod that waits to be ended": {claimed(), aJob(), aPod(corev1.PodRunning, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: at} }), "", false, false, ""},
		"at the start of its program":  {aSecret(exchange.ClaimKey, "{}", exchange.ProgressKey, `{"Progress":{"Waiting":"`+run.StartingProgram+`"}}`), aJob(), aPod(corev1.PodRunning), "", false, false, run.StartingProgram},
		"at its installation":          {aSecret(exchange.ClaimKey, "{}", exchange.ProgressKey, `{"Progress":{"Waiting":"`+run.Installing+`"}}`), aJob(), aPod(corev1.PodRunning), "", false, false, run.Installing},
		"at what a tenant has written": {aSecret(exchange.ClaimKey, "{}", exchange.ProgressKey, `{"Progress":{"Waiting":"nonsense"}}`), aJob(), aPod(corev1.PodRunning), "", false, false, ""},
		"a node that does not answer": {claimed(), aJob(), aPod(corev1.PodRunning, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: at} },
			withCondition(corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByTaintManager", "x")), "", false, false, "node node-1 has not confirmed"},
		"the Secret deleted":            {nil, aJob(), aPod(corev1.PodRunning), "", false, false, "was deleted"},
		"the Secret deleted, and over":  {nil, failedJob("PodFailurePolicy", ""), aPod(corev1.PodFailed, terminated(12, "Error", "")), run.PodFailed, true, false, "could not write the result of the run (exit code 12): the Secret, the Role"},
		"the Role deleted in mid-run":   {claimed(), failedJob("PodFailurePolicy", ""), aPod(corev1.PodFailed, terminated(12, "Error", "")), run.PodFailed, true, false, "the Role, the RoleBinding"},
		"the Role deleted at the start": {aSecret(), failedJob("PodFailurePolicy", ""), aPod(corev1.PodFailed, terminated(11, "Error", "")), run.PodFailed, false, true, "did not start the run (exit code 11)"},
		"no way to the API server":      {aSecret(), failedJob("PodFailurePolicy", ""), aPod(corev1.PodFailed, terminated(13, "Error", "the run is not started: dial tcp 10.0.0.1:443: i/o timeout")), run.PodFailed, false, true, "could not reach the API server (exit code 13), so check that the network policies of the namespace allow it: the run is not started: dial tcp 10.0.0.1:443: i/o timeout; Pulumi was not started"},
		"terminated at the start":       {aSecret(), failedJob("PodFailurePolicy", ""), aPod(corev1.PodFailed, terminated(14, "Error", "claiming the run: context canceled")), run.PodFailed, false, true, "was terminated before it started the run (exit code 14); Pulumi was not started"},
		"the Secret made immutable":     {immutableSecret(), aJob(), aPod(corev1.PodRunning), "", false, false, "was made immutable"},
		"immutable, and over":           {immutableSecret(), failedJob("PodFailurePolicy", ""), aPod(corev1.PodFailed, terminated(12, "Error", "")), run.PodFailed, true, false, "could not write the result of the run (exit code 12): Secret pulumi-run-1 was made immutable"},
		"ended late by the deadline": {resulted(run.Result{Outcome: run.Cancelled, Message: "x"}), aJob(batchv1.JobCondition{Type: batchv1.JobFailureTarget,
			Status: corev1.ConditionTrue, Reason: batchv1.JobReasonDeadlineExceeded, Message: "was active longer"}), nil,
			run.PodFailed, false, false, "was terminated: Job pulumi-run-1 reached its deadline: was active longer (DeadlineExceeded); Pulumi finished"},
		"never started":                {aSecret(), failedJob("DeadlineExceeded", "was active longer"), nil, run.PodFailed, false, true, "reached its deadline"},
		"all deleted":                  {nil, nil, nil, run.PodFailed, true, false, "the Job and the Secret of the run are gone"},
		"no Job was created":           {aSecret(), nil, nil, run.PodFailed, false, true, "Pulumi was not started"},
		"unclaimed, evicted":           {aSecret(), aJob(), aPod(corev1.PodFailed, evicted), run.PodFailed, false, true, "Pulumi was not started"},
		"unclaimed, past its deadline": {aSecret(), failedJob("DeadlineExceeded", "x"), nil, run.PodFailed, false, true, "Pulumi was not started"},
		"a failed init container": {aSecret(), aJob(), aPod(corev1.PodFailed, func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: copyContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "no space"}}}}
		}), run.PodFailed, false, true, "container bootstrap of pod pulumi-run-1-x has ended with exit code 1: no space (Error)"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := seen{secret: tt.secret, job: tt.job, pods: tt.pods, now: at.Add(time.Minute)}
			cached := judge(s)
			s.fresh = true
			v := judge(s)
			if tt.outcome == "" {
				g.Expect(v.ended).To(BeNil())
				g.Expect(v.freshen || cached.freshen).To(BeFalse())
				if tt.message == "" {
					g.Expect(v.report.Progress.Waiting).To(BeEmpty())
				}
				g.Expect(v.report.Progress.Waiting).To(ContainSubstring(tt.message))
				return
			}
			g.Expect(v.ended).NotTo(BeNil())
			g.Expect(v.ended.Outcome).To(Equal(tt.outcome), v.ended.Message)
			g.Expect(v.ended.Message).To(ContainSubstring(tt.message))
			g.Expect(v.ended.Interrupted).To(Equal(tt.interrupted))
			g.Expect(v.unclaimed).To(Equal(tt.unclaimed))
			if cached.ended == nil {
				g.Expect(cached.freshen).To(BeTrue(), "a cached read does not prove there is no result")
			}
			if v.ended.Interrupted && tt.secret != nil && len(tt.secret.Data[exchange.ProgressKey]) > 0 {
				g.Expect(v.ended.UnknownCreates).To(Equal([]string{"urn:a"}), "the progress the pod reported is kept")
				g.Expect(v.ended.Changes.Created).To(Equal(2))
			}
		})
	}
}

func TestTheVerdictOnACancelledRun(t *testing.T) {
	for name, tt := range map[string]struct {
		secret  *corev1.Secret
		job     *batchv1.Job
		pods    []corev1.Pod
		outcome run.Outcome // empty until the pod is asked
	}{
		"no pod yet":               {aSecret(), aJob(), nil, run.Cancelled},
		"no Job yet":               {aSecret(), nil, nil, run.Cancelled},
		"a pod that is starting":   {aSecret(), aJob(), aPod(corev1.PodPending), run.Cancelled},
		"a missing image":          {aSecret(), aJob(), aPod(corev1.PodPending, waiting("ImagePullBackOff", "x")), run.Cancelled},
		"a running pod":            {claimed(), aJob(), aPod(corev1.PodRunning), ""},
		"a running pod, no Secret": {nil, aJob(), aPod(corev1.PodRunning), ""},
		"ended meanwhile":          {resulted(run.Result{Outcome: run.Succeeded}), aJob(), nil, run.Succeeded},
		"killed meanwhile":         {claimed(), aJob(), aPod(corev1.PodFailed, terminated(137, "Error", "")), run.PodFailed},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := seen{secret: tt.secret, job: tt.job, pods: tt.pods, now: at.Add(time.Minute), cancelled: true}
			cached := judge(s)
			s.fresh = true
			v := judge(s)
			if tt.outcome == "" {
				g.Expect(cached.ended).To(BeNil())
				g.Expect(v.ended).To(BeNil())
				return
			}
			g.Expect(v.ended.Outcome).To(Equal(tt.outcome))
			g.Expect(v.unclaimed).To(Equal(tt.outcome == run.Cancelled))
			if tt.outcome == run.Cancelled {
				g.Expect(cached.ended).To(BeNil())
				g.Expect(cached.freshen).To(BeTrue(), "a pod may have claimed it meanwhile")
				g.Expect(v.ended.Message).To(ContainSubstring("Pulumi was not started"))
				g.Expect(v.ended.Interrupted).To(BeFalse())
			}
		})
	}
}

func TestOnlySidecarsAreLeft(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	goesOn := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	of := func(name string, state corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: state}
	}
	for name, tt := range map[string]struct {
		phase    corev1.PodPhase
		statuses []corev1.ContainerStatus
		want     bool
	}{
		"the run is running":            {corev1.PodRunning, []corev1.ContainerStatus{of(mainContainer, goesOn), of("side", goesOn)}, false},
		"a sidecar is running":          {corev1.PodRunning, []corev1.ContainerStatus{of(mainContainer, ended), of("side", goesOn)}, true},
		"all have ended, pod not yet":   {corev1.PodRunning, []corev1.ContainerStatus{of(mainContainer, ended), of("side", ended)}, false},
		"no sidecar, pod not yet ended": {corev1.PodRunning, []corev1.ContainerStatus{of(mainContainer, ended)}, false},
		"the pod has ended":             {corev1.PodSucceeded, []corev1.ContainerStatus{of(mainContainer, ended), of("side", ended)}, false},
		"no container statuses":         {corev1.PodRunning, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := corev1.Pod{Status: corev1.PodStatus{Phase: tt.phase, ContainerStatuses: tt.statuses}}
			NewWithT(t).Expect(onlySidecars(pod)).To(Equal(tt.want))
		})
	}
}

func TestTheLogOfAKilledPodIsNotTheReason(t *testing.T) {
	g := NewWithT(t)
	v := judge(seen{secret: claimed(), job: aJob(), pods: aPod(corev1.PodFailed, terminated(137, "Error", `{"msg":"update starts"}`)), now: at, fresh: true})
	g.Expect(v.ended.Message).To(HaveSuffix("was killed: exit code 137"))
}

func TestAResultWaitsForTheReasonItsPodWasStopped(t *testing.T) {
	result := run.Result{Outcome: run.Cancelled, Message: "x", StartedAt: at.Add(-time.Minute), EndedAt: at}
	future := result
	future.EndedAt = at.Add(time.Hour)
	for name, tt := range map[string]struct {
		result    run.Result
		pods      []corev1.Pod
		cancelled bool
		after     time.Duration
		want      run.Outcome
	}{
		"pod terminating":               {result, aPod(corev1.PodRunning), false, time.Second, ""},
		"pod terminating for long":      {result, aPod(corev1.PodRunning), false, time.Minute, run.PodFailed},
		"for long, dated in the future": {future, aPod(corev1.PodRunning), false, time.Minute, run.PodFailed},
		"pod evicted":                   {result, aPod(corev1.PodFailed, evicted), false, time.Second, run.PodFailed},
		"pod ended":                     {result, aPod(corev1.PodFailed), false, time.Second, run.PodFailed},
		"pod gone":                      {result, nil, false, time.Second, run.PodFailed},
		"cancelled by a person":         {result, aPod(corev1.PodRunning), true, time.Second, run.Cancelled},
		"failed by itself":              {run.Result{Outcome: run.Failed, EndedAt: at}, aPod(corev1.PodRunning), false, time.Second, run.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := judge(seen{secret: resulted(tt.result), job: aJob(), pods: tt.pods, cancelled: tt.cancelled, fresh: true, now: at.Add(tt.after), resultSeenAt: at})
			if tt.want == "" {
				g.Expect(v.ended).To(BeNil())
				g.Expect(v.report.Progress.Waiting).To(ContainSubstring("is terminating"))
				return
			}
			g.Expect(v.ended).NotTo(BeNil())
			g.Expect(v.ended.Outcome).To(Equal(tt.want))
		})
	}
}

func TestTheMessageSaysWhoStoppedThePod(t *testing.T) {
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: at} }
	for name, tt := range map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want string
	}{
		"evicted":                        {aJob(), aPod(corev1.PodFailed, evicted), "the pod of the run was terminated: pod pulumi-run-1-x was evicted from node "},
		"pod being deleted":              {aJob(), aPod(corev1.PodFailed, deleted), "the pod of the run was terminated: pod pulumi-run-1-x was deleted; Pulumi"},
		"pod deleted":                    {aJob(), nil, "the pod of the run was terminated: the pod of Job pulumi-run-1 was deleted; Pulumi"},
		"Job deleted":                    {nil, nil, "the pod of the run was terminated: Job pulumi-run-1 of the run is gone: it was deleted, or ended and expired (ttlSecondsAfterFinished); Pulumi"},
		"Job suspended, pod still there": {suspendedJob(), aPod(corev1.PodFailed, deleted), "the pod of the run was terminated: Job pulumi-run-1 was suspended"},
		"Job suspended":                  {suspendedJob(), nil, "the pod of the run was terminated: Job pulumi-run-1 was suspended, which ended its pod; Pulumi"},
		"cause unknown":                  {aJob(), aPod(corev1.PodFailed), "the pod of the run was terminated; Pulumi"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			result := run.Result{Outcome: run.Cancelled, Message: "forged", StartedAt: at, EndedAt: at}
			v := judge(seen{secret: resulted(result), job: tt.job, pods: tt.pods, fresh: true, now: at.Add(time.Minute)})
			g.Expect(v.ended).To(And(HaveField("Outcome", run.PodFailed), HaveField("Interrupted", false)))
			g.Expect(v.ended.Message).To(And(HavePrefix(tt.want), HaveSuffix("Pulumi finished the operations in flight")))
		})
	}
}

func TestARunThatIsNeverStartedSaysWhatItWaitedFor(t *testing.T) {
	g := NewWithT(t)
	v := judge(seen{secret: aSecret(), job: failedJob("DeadlineExceeded", "was active longer"), now: at, fresh: true,
		waited: "pod pulumi-run-1-x waits for a node: 0/3 nodes are available (Unschedulable)"})
	g.Expect(v.ended.Message).To(Equal("the run was never started: pod pulumi-run-1-x waits for a node: 0/3 nodes are available (Unschedulable); " +
		"Job pulumi-run-1 reached its deadline: was active longer (DeadlineExceeded); Pulumi was not started"))
	g.Expect(v.ended.Interrupted).To(BeFalse())
}

func TestAPodThatIsSlowToStartAsksForAttention(t *testing.T) {
	g := NewWithT(t)
	s := seen{secret: aSecret(), job: aJob(), pods: aPod(corev1.PodPending), now: at.Add(startPatience)}
	g.Expect(judge(s).report.Progress.Waiting).To(Equal("pod pulumi-run-1-x is starting"))
	s.now = s.now.Add(time.Second)
	g.Expect(judge(s).report.Progress.Waiting).To(HavePrefix("pod pulumi-run-1-x has not started: run `kubectl describe pod"))
}

func TestTimesOfAResultAreClampedToItsRun(t *testing.T) {
	now := at.Add(time.Hour)
	for name, tt := range map[string]struct{ started, ended, wantStarted, wantEnded time.Time }{
		"in range":                {at.Add(time.Minute), at.Add(2 * time.Minute), at.Add(time.Minute), at.Add(2 * time.Minute)},
		"slow clock":              {at.Add(-2 * time.Minute), at.Add(-time.Minute), at, at},
		"clock slow at the start": {at.Add(-2 * time.Minute), at.Add(time.Minute), at, at.Add(time.Minute)},
		"fast clock":              {now.Add(time.Minute), now.Add(time.Hour), now, now},
		"negative year":           {time.Date(-1, 12, 31, 1, 0, 0, 0, time.UTC), time.Date(-1, 12, 31, 1, 0, 0, 0, time.UTC), at, at},
		"zero times":              {time.Time{}, time.Time{}, now, now},
		"ended as it started":     {at, at, at, at},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := exchange.EncodeResult(run.Update, run.Result{Outcome: run.Succeeded, StartedAt: tt.started, EndedAt: tt.ended})
			if err != nil { // a program can write what the driver cannot
				const no = "0000-01-01T00:00:00+23:00"
				data, _, err = bounded.Pack(json.RawMessage(`{"Result":{"Outcome":"Succeeded","StartedAt":"` + no + `","EndedAt":"` + no + `"}}`))
			}
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred())
			v := judge(seen{secret: aSecret(exchange.ClaimKey, "{}", exchange.ResultKey, string(data)), job: aJob(), fresh: true, now: now})
			g.Expect(v.ended.Outcome).To(Equal(run.Succeeded), v.ended.Message)
			g.Expect(v.ended.StartedAt).To(BeTemporally("==", tt.wantStarted))
			g.Expect(v.ended.EndedAt).To(BeTemporally("==", tt.wantEnded))
		})
	}
}
