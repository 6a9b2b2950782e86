// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	psaapi "k8s.io/pod-security-admission/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/flux-pulumi/pulumi-controller/internal/controller"
	"github.com/flux-pulumi/pulumi-controller/internal/holder"
	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	runs "github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// The values of --runner.
const (
	runnerLocal = lockdown.LocalRunner
	runnerJob   = "job"
)

// place is where runs are done, and what is asked of it beside the runs.
type place interface {
	runs.Runner
	// Count tells how many runs are in flight and how many Stacks wait for a place.
	Count() (inFlight, waiting int)
	// Shutdown begins no run any more, and waits for what would be lost with this
	// process.
	Shutdown(ctx context.Context) error
	// InFlight lists the runs that are lost with this process.
	InFlight() []runs.Ref
	// AwaitForgotten waits for results that would be.
	AwaitForgotten(ctx context.Context)
}

// newJobRunner makes the runner of runs as Jobs, and has the manager start it. It learns
// from the records which runs the Stacks know of.
func newJobRunner(ctx context.Context, c config, mgr ctrl.Manager, restConfig *rest.Config, waker *controller.Waker,
	records controller.RunRecords,
) (*job.Runner, error) {
	image, pull, err := runnerImage(ctx, c, mgr.GetAPIReader())
	if err != nil {
		return nil, err
	}
	namespace := watchedNamespace(c)
	cache, err := job.NewCache(restConfig, mgr.GetScheme(), namespace)
	if err != nil {
		return nil, err
	}
	grace := pulumi.DefaultGrace()
	grace.Finish = c.cancelGrace
	settings := job.Settings{
		Image: image, PullPolicy: pull, PodSecurity: psaapi.Level(c.runnerPodSecurity), Part: partOf(c),
		Grace: grace, Retries: c.httpRetry, NoPluginDownload: !c.acquirePlugins, Proxies: exchange.Proxies(c.passedEnv),
		LogLevel: c.logger.LogLevel, LogEncoding: c.logger.LogEncoding,
	}
	if settings.Defaults, err = readWorkspaceTemplate(c.runnerWorkspaceTemplate, settings); err != nil {
		return nil, err
	}
	runner := job.New(job.Options{
		Settings: settings,
		Client:   mgr.GetClient(), Reader: mgr.GetAPIReader(), Cache: cache, Namespace: namespace,
		Concurrent: c.concurrentRuns, PerNamespace: c.concurrentRunsPerNamespace,
		InUse: records.InUse, Recorded: records.Recorded, Wake: waker.Wake, Log: ctrl.Log,
	})
	if err := mgr.Add(cache); err != nil {
		return nil, fmt.Errorf("failed to have the manager watch the Jobs of runs: %w", err)
	}
	// Only the leader reconciles runs: that is so for all that does not say otherwise.
	if err := mgr.Add(manager.RunnableFunc(runner.Run)); err != nil {
		return nil, fmt.Errorf("failed to have the manager run the reconciler of Jobs: %w", err)
	}
	return runner, nil
}

// readWorkspaceTemplate reads the defaults of the templates of Stacks from a file, if any.
func readWorkspaceTemplate(path string, settings job.Settings) (job.Defaults, error) {
	if path == "" {
		return job.Defaults{}, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return job.Defaults{}, fmt.Errorf("failed to read the file of --runner-workspace-template: %w", err)
	}
	defaults, err := job.ReadDefaults(text, settings)
	if err != nil {
		return job.Defaults{}, fmt.Errorf("--runner-workspace-template: %s: %w", path, err)
	}
	return defaults, nil
}

// newDrainer makes what ends the Jobs of an earlier controller that had --runner=job, and has
// the manager remove the Secrets that it has left behind.
func newDrainer(c config, mgr ctrl.Manager, waker *controller.Waker, records controller.RunRecords) (*job.Drainer, error) {
	drainer := job.NewDrainer(job.DrainOptions{
		Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Namespace: watchedNamespace(c),
		InUse: records.InUse, Recorded: records.Recorded, Wake: waker.Wake, Log: ctrl.Log,
	})
	// Only the leader does it: that is so for all that does not say otherwise.
	if err := mgr.Add(manager.RunnableFunc(drainer.Sweep)); err != nil {
		return nil, fmt.Errorf("failed to have the manager remove what the Jobs of runs have left: %w", err)
	}
	return drainer, nil
}

// watchedNamespace is the only namespace that is watched, "" for all.
func watchedNamespace(c config) string {
	if c.watch.AllNamespaces {
		return ""
	}
	return c.runtimeNamespace
}

// partOf tells the controllers of shards apart, in the value of a label.
func partOf(c config) string {
	if c.watch.LabelSelector == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.watch.LabelSelector))
	return hex.EncodeToString(sum[:8])
}

// runnerImage is the image that the controller is copied from into the pods: its own,
// unless a flag says another, with when it is pulled: one that the nodes were given, as
// a cluster for tests is, cannot be had from anywhere.
func runnerImage(ctx context.Context, c config, reader client.Reader) (string, corev1.PullPolicy, error) {
	if c.runnerImage != "" {
		return c.runnerImage, "", nil
	}
	pod, err := holder.OwnPod(ctx, reader, c.runtimeNamespace)
	if err != nil {
		return "", "", err
	}
	if own := ownContainer(pod); own != nil {
		return own.Image, own.ImagePullPolicy, nil
	}
	return "", "", fmt.Errorf("--runner=%s needs --runner-image here: this process is in no pod with a container %q, whose image could be taken", runnerJob, managerContainer)
}
