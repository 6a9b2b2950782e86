// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/program/check"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	shardKey = "sharding.fluxcd.io/key"
	noShard  = "!" + shardKey
)

func inShard(name string) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Labels = map[string]string{shardKey: name} }
}

// The API server is that of all tests, and the controller that of all Stacks in no shard. TestMain ends both.
var (
	server = controlplane.Shared{CRDPaths: projectCRDs}
	shared struct {
		once    sync.Once
		cluster *orderedCluster
		stop    func() error
		err     error
	}
)

// projectCRDs leaves out those of source-controller, which a test installs.
func projectCRDs() ([]string, error) {
	root, err := process.RepoRoot()
	return []string{filepath.Join(root, "config", "crd", "bases")}, err
}

func stopShared() error {
	var errs []error
	if shared.stop != nil {
		errs = append(errs, shared.stop())
	}
	return errors.Join(append(errs, server.Stop())...)
}

// orderedCluster is an API server with a running controller.
type orderedCluster struct {
	client.Client
	runner *promptRunner
	config *rest.Config
	// api ends when the API server fails.
	api context.Context
	// ahead is how far the controller's clock is ahead.
	ahead *atomic.Int64
	log   *failure.Log
	// requests are those of the controller to the API server.
	requests *requestLog
}

// requestLog records requests, except for watches, which the API server ends now and then.
type requestLog struct {
	http.RoundTripper
	mu    sync.Mutex
	lines []string
	// writes are those that have changed something: not those that were refused, such as one with a stale version.
	writes []string
}

func (l *requestLog) RoundTrip(request *http.Request) (*http.Response, error) {
	line := request.Method + " " + request.URL.Path
	if request.URL.Query().Get("watch") == "" {
		l.mu.Lock()
		l.lines = append(l.lines, line)
		l.mu.Unlock()
	}
	response, err := l.RoundTripper.RoundTrip(request)
	if err == nil && request.Method != http.MethodGet && response.StatusCode < http.StatusBadRequest {
		l.mu.Lock()
		l.writes = append(l.writes, line)
		l.mu.Unlock()
	}
	return response, err
}

// written are the writes so far.
func (l *requestLog) written() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.writes)
}

func (l *requestLog) read() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// sharedCluster returns the controller of all Stacks in no shard.
func sharedCluster(t *testing.T) *orderedCluster {
	t.Helper()
	shared.once.Do(func() {
		var plane *controlplane.ControlPlane
		if plane, shared.err = server.Start(); shared.err == nil {
			shared.cluster, shared.stop, shared.err = startController(plane, noShard)
		}
	})
	NewWithT(t).Expect(shared.err).NotTo(HaveOccurred())
	return shared.cluster
}

// shardCluster starts a controller for a shard.
func shardCluster(t *testing.T, shard string, changes ...func(*StackReconciler)) *orderedCluster {
	t.Helper()
	g := NewWithT(t)
	plane, err := server.Start()
	g.Expect(err).NotTo(HaveOccurred())
	cluster, stop, err := startController(plane, shardKey+"="+shard, changes...)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(stop()).To(Succeed()) })
	return cluster
}

// ownCluster starts an API server as well, for a test that changes more of it than a namespace.
func ownCluster(t *testing.T, changes ...func(*StackReconciler)) *orderedCluster {
	t.Helper()
	g := NewWithT(t)
	paths, err := projectCRDs()
	g.Expect(err).NotTo(HaveOccurred())
	plane, err := controlplane.Start(context.WithoutCancel(t.Context()), controlplane.Options{Dir: t.TempDir(), CRDPaths: paths})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })
	cluster, stop, err := startController(plane, noShard, changes...)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(stop()).To(Succeed()) })
	return cluster
}

// startController starts a controller of the Stacks that a selector of labels selects. It must be stopped before the
// API server is.
func startController(plane *controlplane.ControlPlane, of string, changes ...func(*StackReconciler)) (*orderedCluster, func() error, error) {
	selector, err := labels.Parse(of)
	if err != nil {
		return nil, nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, sourcev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, nil, err
		}
	}
	log := &failure.Log{}
	requests, config := &requestLog{}, plane.RESTConfig()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		requests.RoundTripper = next
		return requests
	})
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Logger: log.Logger(), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: ptr.To(true)}, // there are several in this process
		Client: client.Options{Cache: &client.CacheOptions{ // as in the controller
			DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}, Unstructured: true,
		}},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&v1.Stack{}: {Label: selector}}},
	})
	if err != nil {
		return nil, nil, err
	}
	ahead := &atomic.Int64{}
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	runner := &promptRunner{inner: newTestRunner(), waker: &watches.Waker{}, now: clock}
	reconciler := &StackReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Events: quietEvents{}, Runner: runner,
		Holder: v1.RunHolder{Host: "pod-1", Instance: "a"}, Holders: &prover{}, Options: observe.Options{NoCrossNamespaceRefs: true},
		Jitter: func(d time.Duration) time.Duration { return d }, Now: clock,
		CheckProgram: check.Check, PackSources: &packSources{},
	}
	for _, change := range changes {
		change(reconciler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c, err := client.New(plane.RESTConfig(), client.Options{Scheme: scheme})
	if err == nil {
		err = reconciler.SetupWithManager(ctx, mgr, StackReconcilerOptions{Waker: runner.waker})
	}
	if err == nil {
		err = reportOnPolicySets(mgr, reconciler, of)
	}
	if err != nil {
		cancel()
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop := func() error {
		cancel()
		return <-ended
	}
	return &orderedCluster{Client: c, runner: runner, config: plane.RESTConfig(), api: plane.Context(), ahead: ahead, log: log, requests: requests}, stop, nil
}
