// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/flowcontrol"
	runtimeclient "github.com/fluxcd/pkg/runtime/client"
	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/leaderelection"
	"github.com/fluxcd/pkg/runtime/pprof"
	"github.com/fluxcd/pkg/runtime/probes"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// clusterConfig is how the API server is reached.
func clusterConfig(ctx context.Context, c Config) (*rest.Config, error) {
	restConfig, err := c.Cluster()
	if err != nil {
		return nil, fmt.Errorf("failed to find the API server: %w", err)
	}
	restConfig.WarningHandlerWithContext = warnings{ctrllog.NewKubeAPIWarningLogger(ctrllog.KubeAPIWarningLoggerOptions{Deduplicate: true})}
	limitRate(ctx, restConfig, c.Client)
	return restConfig, nil
}

// warnings logs the warnings of the API server, except that about the name of the finalizer.
// That name has no path because it is the one of the Pulumi operator: Stacks would have two
// finalizers after a migration, one of which nobody removes.
type warnings struct{ rest.WarningHandlerWithContext }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	if strings.HasPrefix(text, fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name", v1.StackFinalizer)) {
		return
	}
	w.WarningHandlerWithContext.HandleWarningHeaderWithContext(ctx, code, agent, text)
}

// limitRate has the client limit its requests only where the API server does not
// share itself out fairly, as the shared package does, whose own function exits
// where there is no API server and waits for one for ever.
func limitRate(ctx context.Context, restConfig *rest.Config, limits runtimeclient.Options) {
	ctx, cancel := context.WithTimeout(ctx, flowControlTimeout)
	defer cancel()
	if fair, err := flowcontrol.IsEnabled(ctx, restConfig); err == nil && fair {
		restConfig.QPS, restConfig.Burst = -1, -1
		return
	}
	restConfig.QPS, restConfig.Burst = limits.QPS, limits.Burst
}

// flowControlTimeout is how long the API server may take to tell whether it has
// Priority and Fairness.
const flowControlTimeout = 10 * time.Second

// newManager makes the manager, with Secrets and ConfigMaps kept out of its
// cache: only their metadata is watched.
func newManager(c Config, restConfig *rest.Config) (ctrl.Manager, error) {
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{clientgoscheme.AddToScheme, sourcev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("failed to build the scheme: %w", err)
		}
	}
	selector, err := runtimectrl.GetWatchSelector(c.Watch)
	if err != nil {
		return nil, fmt.Errorf("failed to read --watch-label-selector: %w", err)
	}
	leaderElectionID := Name + "-leader-election"
	if c.Watch.LabelSelector != "" {
		leaderElectionID = leaderelection.GenerateID(leaderElectionID, c.Watch.LabelSelector)
	}
	options := ctrl.Options{
		Scheme:                        scheme,
		HealthProbeBindAddress:        c.HealthAddr,
		LeaderElection:                c.LeaderElection.Enable,
		LeaderElectionReleaseOnCancel: c.LeaderElection.ReleaseOnCancel,
		LeaseDuration:                 &c.LeaderElection.LeaseDuration,
		RenewDeadline:                 &c.LeaderElection.RenewDeadline,
		RetryPeriod:                   &c.LeaderElection.RetryPeriod,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       c.RuntimeNamespace, // empty: the namespace of the pod
		Logger:                        ctrl.Log,
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor:   []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}},
			Unstructured: true, // Programs, which are watched as they are stored
		}},
		Cache:      cache.Options{ByObject: map[client.Object]cache.ByObject{&v1.Stack{}: {Label: selector}}},
		Metrics:    metricsserver.Options{BindAddress: c.MetricsAddr, ExtraHandlers: pprof.GetHandlers()},
		Controller: ctrlconfig.Controller{MaxConcurrentReconciles: c.Concurrent, RecoverPanic: ptr.To(true)},
	}
	if !c.Watch.AllNamespaces {
		options.Cache.DefaultNamespaces = map[string]cache.Config{c.RuntimeNamespace: {}}
	}
	mgr, err := ctrl.NewManager(restConfig, options)
	if err != nil {
		return nil, fmt.Errorf("failed to make the manager: %w", err)
	}
	probes.SetupChecks(mgr, ctrl.Log)
	return mgr, nil
}
