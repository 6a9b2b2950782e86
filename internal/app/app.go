// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package app puts the process of the controller together. assemble makes all of its
// parts, each with everything it needs, and lifecycle has the order in which they start
// and stop.
package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	fluxmetrics "github.com/fluxcd/pkg/runtime/metrics"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/controller"
	"github.com/flux-pulumi/pulumi-controller/internal/holder"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/kubeconfig"
	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/notify"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/policysets"
	"github.com/flux-pulumi/pulumi-controller/internal/program/check"
	"github.com/flux-pulumi/pulumi-controller/internal/programs"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// Run runs the controller until ctx is done, or until something fails that it cannot do
// without.
func Run(ctx context.Context, c Config) error {
	for _, warning := range c.Warnings() {
		ctrl.Log.Info(warning)
	}
	data := &dataDir{path: c.DataDir}
	return lifecycle{
		data:     data,
		assemble: func(ctx context.Context) (*parts, error) { return assemble(ctx, c, data) },
		shutdown: c.GracefulShutdown,
	}.run(ctx)
}

// base is what the parts are made from.
type base struct {
	Config
	data    *dataDir
	cluster *rest.Config
	manager ctrl.Manager
	// pod is the one of this process, empty if it is in none.
	pod *corev1.Pod
	// waker lets the runners wake the reconciler, and records lets them read what Stacks
	// have recorded of runs, so that none of them needs the reconciler itself.
	waker   *watches.Waker
	records observe.RunRecords
}

// assemble makes the parts of the process. They do nothing before the manager starts.
func assemble(ctx context.Context, c Config, data *dataDir) (*parts, error) {
	b, err := newBase(ctx, c, data)
	if err != nil {
		return nil, err
	}
	accounts, err := kubeconfig.New(b.cluster)
	if err != nil {
		return nil, err
	}
	runners, err := b.newRunners(accounts)
	if err != nil {
		return nil, err
	}
	runMetrics, err := metrics.NewRuns(ctrlmetrics.Registry, runners.current)
	if err != nil {
		return nil, err
	}
	events, err := notify.ForManager(b.manager, c.EventsAddr, Name, ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	here, err := holder.This(data.Locked())
	if err != nil {
		return nil, err
	}
	here = holder.InPod(here, b.pod)
	stacks := &controller.StackReconciler{
		Client:    b.manager.GetClient(),
		APIReader: b.manager.GetAPIReader(),
		Metrics:   runtimectrl.NewMetrics(b.manager, fluxmetrics.MustMakeRecorder(), v1.StackFinalizer),
		Runs:      runMetrics,
		Events:    events,

		Runner:       runners.all,
		Jobs:         runners.jobs,
		CheckBackend: runners.checkBackend,
		Holder:       here,
		Holders:      holders{holder.Prover{Here: here, Reader: b.manager.GetAPIReader()}, data},

		Sources:      source.Resolver{Client: b.manager.GetClient(), NoCrossNamespaceRefs: c.NoCrossNamespaceRefs},
		PackSources:  source.Resolver{Client: b.packReader()},
		OneNamespace: !c.Watch.AllNamespaces,
		CheckProgram: check.Check,
		Namespace:    c.RuntimeNamespace,
		Accounts:     accounts,
		Jitter:       jittered(c.Interval.Percentage),
		Now:          time.Now,
		Options: observe.Options{
			NoCrossNamespaceRefs:       c.NoCrossNamespaceRefs,
			ControllerRefs:             controllerRefs(c),
			RefuseLocalPrograms:        !c.AllowPreviewPrograms,
			DefaultServiceAccount:      c.DefaultServiceAccount,
			WorkloadIdentity:           c.ObjectLevelWorkloadIdentity,
			AdditiveCELDependencyCheck: c.AdditiveCELDependencyCheck,
			PartialCache:               c.watchesPart(),
			RequeueDependency:          c.RequeueDependency,
		},
	}
	if err := b.addReconcilers(ctx, stacks); err != nil {
		return nil, err
	}
	return &parts{
		sweep:   func(ctx context.Context) error { return b.sweep(ctx, runners.onDisk) },
		manager: b.manager, runner: runners.current, stacks: stacks, events: events,
	}, nil
}

func newBase(ctx context.Context, c Config, data *dataDir) (base, error) {
	cluster, err := clusterConfig(ctx, c)
	if err != nil {
		return base{}, err
	}
	mgr, err := newManager(c, cluster)
	if err != nil {
		return base{}, err
	}
	pod, err := holder.OwnPod(ctx, mgr.GetAPIReader(), c.RuntimeNamespace)
	if err != nil {
		return base{}, err
	}
	return base{
		Config: c, data: data, cluster: cluster, manager: mgr, pod: pod, waker: &watches.Waker{},
		records: observe.RunRecords{Cached: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Namespace: c.watchedNamespace()},
	}, nil
}

// packReader reads the sources of policy packs. They are in a namespace of the platform team, which
// the cache of a controller of another namespace does not have.
func (b base) packReader() client.Reader {
	if b.Watch.AllNamespaces {
		return b.manager.GetClient()
	}
	return b.manager.GetAPIReader()
}

// addReconcilers registers the reconcilers with the manager. Those of Programs and of
// PolicySets have the metrics and the events of that of Stacks.
func (b base) addReconcilers(ctx context.Context, stacks *controller.StackReconciler) error {
	configs, err := runtimectrl.GetWatchConfigsPredicate(b.Watch)
	if err != nil {
		return fmt.Errorf("failed to read --watch-configs-label-selector: %w", err)
	}
	if err := stacks.SetupWithManager(ctx, b.manager, controller.StackReconcilerOptions{
		RateLimiter: b.RateLimiter, Waker: b.waker,
		Configs: configs, IgnoreConfigs: b.DisableConfigWatchers,
	}); err != nil {
		return err
	}
	selector, err := metav1.ParseToLabelSelector(b.Watch.LabelSelector)
	if err != nil {
		return fmt.Errorf("failed to read --watch-label-selector: %w", err)
	}
	checked := &programs.Reconciler{
		Client: b.manager.GetClient(), Metrics: stacks.Metrics, Events: stacks.Events, Owner: controller.FieldOwner, Check: check.Check, Now: time.Now,
	}
	if err := checked.SetupWithManager(b.manager, programs.Options{RateLimiter: b.RateLimiter, Selector: *selector}); err != nil {
		return err
	}
	if !b.Watch.AllNamespaces {
		return nil // controllers of different namespaces would write different statuses of a PolicySet
	}
	sets := &policysets.Reconciler{
		Client: b.manager.GetClient(), APIReader: b.manager.GetAPIReader(), Metrics: stacks.Metrics, Events: stacks.Events,
		Owner: controller.FieldOwner, Sources: stacks.PackSources, Now: time.Now,
	}
	return sets.SetupWithManager(b.manager, policysets.Options{
		RateLimiter: b.RateLimiter, Selector: *selector, Configs: configs, IgnoreConfigs: b.DisableConfigWatchers,
		PartialCache: b.Watch.LabelSelector != "",
	})
}

// controllerRefs is what Stacks may read of the controller: by default nothing.
func controllerRefs(c Config) *inputs.Controller {
	if !c.AllowControllerRefs {
		return nil
	}
	return &inputs.Controller{LookupEnv: c.LookupEnv}
}

// jittered spreads durations by the percentage to both sides. The shared package's own
// function is not safe for concurrent reconciles (pkg/runtime/jitter closes over one
// rand.Rand), so only its flag is used.
func jittered(percentage uint8) func(time.Duration) time.Duration {
	return func(d time.Duration) time.Duration {
		spread := int64(d) * int64(percentage) / 100
		if spread <= 0 {
			return d
		}
		return d + time.Duration(rand.Int64N(2*spread+1)-spread)
	}
}
