// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/inplace"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// Options of Do. All are required except PluginsDir, DependenciesDir, Keeper, KeptSnapshots, Memory and Died.
type Options struct {
	// Secret of the run.
	Secret Secret
	// Digest that the run must have.
	Digest string
	// Self is this pod.
	Self exchange.Claim
	// WorkDir is the directory of the run. It belongs to this pod alone.
	WorkDir string
	// PluginsDir contains plugins of Pulumi, if it exists.
	PluginsDir string
	// DependenciesDir contains snapshots of dependencies, and Keeper is the socket of the container
	// that keeps as many new ones there as KeptSnapshots.
	DependenciesDir, Keeper string
	KeptSnapshots           int
	// Environ are the variables of the container. The program gets them, and PATH locates
	// Pulumi.
	Environ []string
	// Driver is completed with what only the pod knows.
	Driver pulumi.Driver
	// Fetcher downloads artifacts.
	Fetcher inplace.Fetcher
	// Accounts give the program the permissions of the pod's ServiceAccount.
	Accounts Accounts
	// Memory returns the limit of the pod, and how many of its processes were killed for
	// exceeding it. Nil means unknown.
	Memory func() cgroup.Memory
	// Died receives why the run was not started, for Kubernetes to report as the reason
	// why the container ended. Nil leaves that to the last lines of the log.
	Died func(why string)
	// Log receives the output of Pulumi.
	Log logr.Logger
}

// Accounts are those of the pod.
type Accounts interface {
	inplace.Accounts
	inplace.Identities
	// Tokens must be masked in all texts of the run, whether or not the program was given
	// them.
	Tokens() []string
}

// errTerminated is the cause of a run that is cancelled because its pod is terminated.
var errTerminated = errors.New("the pod of the run was terminated")

// Do executes the run and returns the exit code of the pod. It stops the run gently when
// ctx is done.
func Do(ctx context.Context, o Options) int {
	snapshots, noSnapshots := o.openSnapshots(ctx)
	input, err := o.claim(ctx)
	var own *faultError
	switch {
	case errors.As(err, &own):
		o.Log.Error(err, "the run cannot be executed")
		ended := run.Result{Outcome: run.PodFailed, Message: own.Error(), StartedAt: time.Now(), EndedAt: time.Now()}
		return o.finish("", ended)
	case err != nil:
		o.Log.Error(err, "the run is not started")
		if o.Died != nil {
			o.Died(err.Error())
		}
		return unclaimed(err)
	}
	if snapshots != nil {
		o.Driver.Snapshots = snapshots
	}
	ended := o.do(ctx, input, noSnapshots)
	if o.Memory != nil {
		ended = explainMemory(ended, o.Memory())
	}
	return o.finish(input.Run.Operation, ended)
}

// do executes the run once it is claimed, unless there is a fault of its pod.
func (o Options) do(ctx context.Context, input exchange.Input, fault error) run.Result {
	todo := input.Run
	log := o.Log.WithValues(todo.LogValues()...)
	environ := mapOf(o.Environ)
	for _, name := range input.SecretEnv {
		if value := environ[name]; value != "" {
			todo.Masks = append(slices.Clone(todo.Masks), value)
		}
	}
	todo.LateMasks = o.Accounts.Tokens
	log.Info(string(todo.Operation)+" starts", "pod", o.Self.Pod)

	reporter := newReporter(o.Secret, log)
	defer reporter.close()
	driver := o.Driver
	todo.Reporter = reporter
	driver.PassEnv, driver.PackEnv = variables(environ, input)
	driver.Cache = filepath.Join(o.WorkDir, "cache")
	driver.KeepLog = true // Kubernetes removes that of the pod with its Job
	begin := time.Now()
	if fault == nil {
		fault = o.prepare(&driver, environ["PATH"])
	}
	if fault != nil {
		return pulumi.Failure(todo, run.WorkspaceFailed, fault, begin)
	}
	if err := checkCredentials(todo, driver.PassEnv); err != nil {
		return pulumi.Failure(todo, run.AccountFailed, err, begin)
	}

	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	defer context.AfterFunc(ctx, func() { end(errTerminated) })()
	abort := make(chan struct{})
	todo.Abort = abort
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx)) // also when the pod is terminated
	defer stopWatching()
	go watchCancel(watching, o.Secret, log, cancelInterval, end, abort)
	running, cancel := context.WithTimeout(life, todo.Timeout)
	defer cancel()
	executor := inplace.Executor{Driver: &driver, Fetcher: o.Fetcher, Accounts: o.Accounts, Identities: o.Accounts}
	dir := pulumi.Directory(filepath.Join(o.WorkDir, "runs", todo.ID))
	return executor.Do(running, dir, todo, func(line string) { log.Info(line) })
}

// checkCredentials refuses variables of the container with which every SDK would use another identity than
// that of the service account. The controller sees those that the template names, and neither those of a
// Secret that it names in envFrom nor those of the image.
func checkCredentials(todo run.Run, variables map[string]string) error {
	variable, annotation := todo.Identity.Outranked(variables)
	if variable == "" {
		return nil
	}
	return fmt.Errorf("the container of the run has the variable %s, from envFrom or its image, beside the annotation %s of "+
		"service account '%s', which gives the program another identity: remove one of the two", variable, annotation, todo.Account)
}

// prepare finds Pulumi, which the image contains, and the plugins.
func (o Options) prepare(driver *pulumi.Driver, path string) error {
	found := ""
	for _, dir := range filepath.SplitList(path) {
		if program, err := exec.LookPath(filepath.Join(dir, "pulumi")); err == nil && found == "" {
			found = program
		}
		driver.Path = append(driver.Path, dir)
	}
	if driver.Bin == "" {
		if found == "" {
			return fmt.Errorf("the image of the run has no pulumi on its PATH (%s): use an image such as pulumi/pulumi-nodejs", path)
		}
		driver.Bin = filepath.Dir(found)
	}
	return o.linkPlugins(filepath.Join(driver.Cache, "plugins"))
}

// linkPlugins makes the plugins that exist available to the run. Others are downloaded
// next to them, so the mounted directory may be read-only. Pulumi does not accept a link
// as the directory of a plugin, so its contents are linked. It skips a directory that this
// user may not read: the run may not need it, and lost+found of a volume is such a one.
func (o Options) linkPlugins(to string) error {
	entries, err := os.ReadDir(o.PluginsDir)
	if o.PluginsDir == "" || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the plugins of the pod: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		from, dir := filepath.Join(o.PluginsDir, entry.Name()), filepath.Join(to, entry.Name())
		files, err := os.ReadDir(from)
		if errors.Is(err, os.ErrPermission) {
			o.Log.Info("a directory of plugins is skipped: this user may not read it", "directory", from, "uid", os.Getuid())
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the plugins of the pod: %w", err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("linking the plugins of the pod: %w", err)
		}
		for _, file := range files {
			if err := os.Symlink(filepath.Join(from, file.Name()), filepath.Join(dir, file.Name())); err != nil && !errors.Is(err, os.ErrExist) {
				return fmt.Errorf("linking the plugins of the pod: %w", err)
			}
		}
	}
	return nil
}

func mapOf(environ []string) map[string]string {
	variables := make(map[string]string, len(environ))
	for _, variable := range environ {
		if name, value, ok := strings.Cut(variable, "="); ok {
			variables[name] = value
		}
	}
	return variables
}

// variables returns those of the program and those of policy packs. Whoever writes the Stack
// decides on the variables of the container, and none of them reaches a pack: NODE_OPTIONS alone
// could replace its policies.
func variables(environ map[string]string, input exchange.Input) (ofProgram, ofPacks map[string]string) {
	return exchange.WithProxies(passed(environ, input.Run.Account), input.Proxies), input.Proxies
}

// passed returns the variables of the container that the program gets, from its image and
// its template. It drops those that the driver sets or refuses, and those of the pod
// itself. An image may contain any of them; the controller has refused a template that
// names one. A KUBECONFIG would keep the program from the account that it is given.
func passed(environ map[string]string, account run.ServiceAccount) map[string]string {
	all := make(map[string]string, len(environ))
	for name, value := range environ {
		if !job.IsOfPod(name) && !job.IsBackend(name) && grammar.CheckVariable(name, value) == nil {
			all[name] = value
		}
	}
	if account.Name != "" {
		delete(all, grammar.KubeconfigVariable)
	}
	dropForeignPlaces(all)
	return all
}
