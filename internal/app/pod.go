// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fluxcd/pkg/runtime/logger"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/kubeconfig"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/pod"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot/keeper"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// RunnerCommand is the argument that has this program do one run in its own pod, in
// place of being the controller. The controller starts it so, and nobody else.
const RunnerCommand = "runner"

// PodConfig is all that can be configured in the pod of a run. The run itself is in the Secret.
type PodConfig struct {
	CopyTo    string
	Namespace string
	// NamespaceUID is set with DependenciesDir.
	NamespaceUID string
	Secret       string
	RunDigest    string
	WorkDir      string
	PluginsDir   string
	// DependenciesDir has snapshots of dependencies, Keeper is the socket of who keeps them, and
	// Keep is the socket on which to do so, within DependencyCacheSize bytes. The run may keep as many
	// as Snapshots.
	DependenciesDir     string
	Keeper, Keep        string
	Snapshots           int
	DependencyCacheSize int64
	AccountDir          string
	// IdentityDir has the tokens of the run for clouds, if it has any.
	IdentityDir    string
	CancelGrace    time.Duration
	HTTPRetry      int
	AcquirePlugins bool
	Log            logger.Options

	// From the environment.
	APIHost, APIPort string
	Self             exchange.Claim
	Environ          []string
}

// RunPod does what the pod of a run is for. It returns the exit code.
func RunPod(c PodConfig) (int, error) {
	switch {
	case c.CopyTo != "":
		return 0, pod.CopyTo(c.CopyTo)
	case os.Getpid() == 1 && c.Keep == "":
		return pod.First()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if c.Keep != "" {
		keepDependencies(ctx, c)
		return 0, nil
	}
	config := &rest.Config{
		Host:            "https://" + net.JoinHostPort(c.APIHost, c.APIPort),
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(c.AccountDir, "ca.crt")},
		BearerTokenFile: filepath.Join(c.AccountDir, "token"),
		UserAgent:       Name + "-" + RunnerCommand,
	}
	if token, err := os.ReadFile(config.BearerTokenFile); err == nil {
		config.BearerToken = strings.TrimSpace(string(token)) // until the file is read again
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, fmt.Errorf("finding the API server: %w", err)
	}
	grace := pulumi.DefaultGrace()
	grace.Finish = c.CancelGrace
	return pod.Do(ctx, pod.Options{
		Secret:          pod.InCluster{Client: client.CoreV1().Secrets(c.Namespace), Name: c.Secret},
		Digest:          c.RunDigest,
		Self:            c.Self,
		WorkDir:         c.WorkDir,
		PluginsDir:      c.PluginsDir,
		DependenciesDir: c.DependenciesDir, Keeper: c.Keeper, KeptSnapshots: c.Snapshots,
		Environ: c.Environ,
		Driver: pulumi.Driver{
			NoPluginDownload: !c.AcquirePlugins, Grace: grace, Memory: cgroup.ReadMemory,
			NamespaceUID: func(context.Context, string) (string, error) { return c.NamespaceUID, nil },
		},
		Fetcher: source.New(source.Options{Retries: c.HTTPRetry, Self: "the pod of the run"}),
		Accounts: &kubeconfig.Mounted{
			Config: config, TokenFile: config.BearerTokenFile, IdentityDir: c.IdentityDir, Injected: kubeconfig.InjectedTokens(c.Environ),
		},
		Memory: cgroup.ReadMemory,
		Died:   noteDeath,
		Log:    logger.NewLogger(c.Log),
	}), nil
}

// keepDependencies is for the container beside that of the run. A run does without it.
func keepDependencies(ctx context.Context, c PodConfig) {
	store := snapshot.NewShared(c.DependenciesDir, c.DependencyCacheSize)
	if err := keeper.Serve(ctx, c.Keep, store, snapshot.NamespaceOf(c.Namespace, c.NamespaceUID), c.Snapshots); err != nil {
		logger.NewLogger(c.Log).Error(err, "the dependencies of the program are not kept")
	}
}

// noteDeath has Kubernetes tell why the container has ended. Without that it has the last
// lines of its log.
func noteDeath(why string) {
	_ = os.WriteFile(corev1.TerminationMessagePathDefault, []byte(why), 0o644)
}
