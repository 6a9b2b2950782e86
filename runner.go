// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fluxcd/pkg/runtime/logger"
	flag "github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/kubeconfig"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/pod"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// runnerCommand is the argument that has this program do one run in its own pod, in
// place of being the controller. The controller starts it so, and nobody else.
const runnerCommand = "runner"

// runnerConfig is all that a runner is told. The run itself is in the Secret.
type runnerConfig struct {
	copyTo         string
	namespace      string
	secret         string
	runDigest      string
	workDir        string
	pluginsDir     string
	accountDir     string
	cancelGrace    time.Duration
	httpRetry      int
	acquirePlugins bool
	log            logger.Options

	// From the environment.
	apiHost, apiPort string
	self             exchange.Claim
	environ          []string
}

// parseRunner reads the arguments after runnerCommand, and the environment.
func parseRunner(args []string) (runnerConfig, error) {
	c := runnerConfig{
		apiHost: os.Getenv("KUBERNETES_SERVICE_HOST"), apiPort: os.Getenv("KUBERNETES_SERVICE_PORT"),
		self:    exchange.Claim{Pod: os.Getenv("POD_NAME"), UID: os.Getenv("POD_UID"), At: time.Now().UTC().Truncate(time.Second)},
		environ: os.Environ(),
	}
	fs := flag.NewFlagSet(controllerName+" "+runnerCommand, flag.ContinueOnError)
	fs.SetOutput(os.Stdout)
	fs.StringVar(&c.copyTo, "copy-to", "", "Copy this program into the directory, and do nothing else.")
	fs.StringVar(&c.namespace, "namespace", "", "The namespace of the run.")
	fs.StringVar(&c.secret, "secret", "", "The Secret of the run.")
	fs.StringVar(&c.runDigest, "run-digest", "", "The digest that the run has to have.")
	fs.StringVar(&c.workDir, "work-dir", "", "The directory that the run is done in.")
	fs.StringVar(&c.pluginsDir, "plugins-dir", "", "A directory with plugins of Pulumi, if it is there.")
	fs.StringVar(&c.accountDir, "account-dir", "", "The directory with the token of the pod's account.")
	fs.DurationVar(&c.cancelGrace, "cancel-grace", 5*time.Minute, "How long a run that is being stopped may take to finish the operations in flight.")
	fs.IntVar(&c.httpRetry, "http-retry", 9, "The maximum number of retries when failing to fetch artifacts over HTTP.")
	fs.BoolVar(&c.acquirePlugins, "acquire-plugins", true, "Let Pulumi download provider plugins that are not there.")
	c.log.BindFlags(fs)
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	if c.copyTo != "" {
		return c, nil
	}
	for name, value := range map[string]string{
		"--namespace": c.namespace, "--secret": c.secret, "--run-digest": c.runDigest, "--work-dir": c.workDir, "--account-dir": c.accountDir,
		"KUBERNETES_SERVICE_HOST": c.apiHost, "KUBERNETES_SERVICE_PORT": c.apiPort, "POD_UID": c.self.UID,
	} {
		if value == "" {
			return c, fmt.Errorf("%s is not set: this command is for the pods of runs, which the controller makes", name)
		}
	}
	return c, nil
}

// runRunner is what the pod of a run does. It returns the exit code.
func runRunner(args []string) (int, error) {
	c, err := parseRunner(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case err != nil:
		return 2, err
	case c.copyTo != "":
		return 0, pod.CopyTo(c.copyTo)
	case os.Getpid() == 1:
		return pod.First()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	config := &rest.Config{
		Host:            "https://" + net.JoinHostPort(c.apiHost, c.apiPort),
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(c.accountDir, "ca.crt")},
		BearerTokenFile: filepath.Join(c.accountDir, "token"),
		UserAgent:       controllerName + "-" + runnerCommand,
	}
	if token, err := os.ReadFile(config.BearerTokenFile); err == nil {
		config.BearerToken = strings.TrimSpace(string(token)) // until the file is read again
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, fmt.Errorf("finding the API server: %w", err)
	}
	grace := pulumi.DefaultGrace()
	grace.Finish = c.cancelGrace
	return pod.Do(ctx, pod.Options{
		Secret:     pod.InCluster{Client: client.CoreV1().Secrets(c.namespace), Name: c.secret},
		Digest:     c.runDigest,
		Self:       c.self,
		WorkDir:    c.workDir,
		PluginsDir: c.pluginsDir,
		Environ:    c.environ,
		Driver:     pulumi.Driver{NoPluginDownload: !c.acquirePlugins, Grace: grace, Memory: cgroup.ReadMemory},
		Fetcher:    source.New(source.Options{Retries: c.httpRetry, Self: "the pod of the run"}),
		Accounts:   &kubeconfig.Mounted{Config: config, TokenFile: config.BearerTokenFile},
		OOMKills:   func() int { return cgroup.ReadMemory().Kills },
		Died:       noteDeath,
		Log:        logger.NewLogger(c.log),
	}), nil
}

// noteDeath has Kubernetes tell why the container has ended. Without that it has the last
// lines of its log.
func noteDeath(why string) {
	_ = os.WriteFile(corev1.TerminationMessagePathDefault, []byte(why), 0o644)
}
