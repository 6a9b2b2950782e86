// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	psaapi "k8s.io/pod-security-admission/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// newJobRunner makes the runner of runs as Jobs, and has the manager start it.
func (b base) newJobRunner() (*job.Runner, error) {
	image, pull, err := b.runnerImage()
	if err != nil {
		return nil, err
	}
	namespace := b.watchedNamespace()
	cache, err := job.NewCache(b.cluster, b.manager.GetScheme(), namespace)
	if err != nil {
		return nil, err
	}
	grace := pulumi.DefaultGrace()
	grace.Finish = b.CancelGrace
	settings := job.Settings{
		Image: image, PullPolicy: pull, RuntimeImages: b.RunnerImages, PodSecurity: psaapi.Level(b.RunnerPodSecurity), Part: b.part(),
		Grace: grace, Retries: b.HTTPRetry, NoPluginDownload: !b.AcquirePlugins, Proxies: exchange.Proxies(b.PassedEnv),
		DependencyCacheSize: b.DependencyCacheSize.Value(), LogLevel: b.Logger.LogLevel, LogEncoding: b.Logger.LogEncoding,
	}
	if settings.Defaults, err = readWorkspaceTemplate(b.RunnerWorkspaceTemplate, settings); err != nil {
		return nil, err
	}
	runner := job.New(job.Options{
		Settings: settings,
		Client:   b.manager.GetClient(), Reader: b.manager.GetAPIReader(), Cache: cache, Namespace: namespace,
		Concurrent: b.ConcurrentRuns, PerNamespace: b.ConcurrentRunsPerNamespace, ConcurrentInBackground: b.ConcurrentDriftChecks,
		InUse: b.records.InUse, Recorded: b.records.Recorded, Runtime: newRuntimes(b.SourceLocalhost).of,
		NamespaceUID: b.namespaceUID, Wake: b.waker.Wake, Log: ctrl.Log,
	})
	if err := b.manager.Add(cache); err != nil {
		return nil, fmt.Errorf("failed to have the manager watch the Jobs of runs: %w", err)
	}
	// Only the leader does it, as everything that does not say otherwise.
	if err := b.manager.Add(manager.RunnableFunc(runner.Run)); err != nil {
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
func (b base) newDrainer() (*job.Drainer, error) {
	drainer := job.NewDrainer(job.DrainOptions{
		Client: b.manager.GetClient(), Reader: b.manager.GetAPIReader(), Namespace: b.watchedNamespace(),
		InUse: b.records.InUse, Recorded: b.records.Recorded, Wake: b.waker.Wake, Log: ctrl.Log,
	})
	// Only the leader does it, as everything that does not say otherwise.
	if err := b.manager.Add(manager.RunnableFunc(drainer.Sweep)); err != nil {
		return nil, fmt.Errorf("failed to have the manager remove what the Jobs of runs have left: %w", err)
	}
	return drainer, nil
}

// runnerImage is the image that the controller is copied from into the pods: its own,
// unless a flag says another, with when it is pulled: one that the nodes were given, as
// a cluster for tests is, cannot be had from anywhere.
func (b base) runnerImage() (string, corev1.PullPolicy, error) {
	if b.RunnerImage != "" {
		return b.RunnerImage, "", nil
	}
	if own := ownContainer(b.pod); own != nil {
		return own.Image, own.ImagePullPolicy, nil
	}
	return "", "", fmt.Errorf("--runner=%s needs --runner-image here: this process is in no pod with a container %q, whose image could be taken", JobRunner, managerContainer)
}
