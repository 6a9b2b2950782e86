// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// world is a running system and the servers around it.
type world struct {
	*system.System
	dir       string
	artifacts *artifactServer
	statuses  *statuses

	// shard is the value of shardLabel that the controller serves. Empty is all Stacks.
	shard string
	// own is the cluster of controllers that tests have for themselves, which only the shared world has.
	own *ownCluster
	// fluxOperator is that of the tests of pull requests.
	fluxOperator *lazyFluxOperator
	// The servers of sources, which only the shared world has.
	gitServer *sources.GitServer
	registry  *sources.OCIRegistry
	s3        *sources.S3Server
}

// ofItsOwn returns a directory and a context for what only this test has. The context of the test would end before its
// cleanup.
func ofItsOwn(t *testing.T, name string) (ctx context.Context, dir string) {
	t.Helper()
	g := NewWithT(t)
	dir, err := os.MkdirTemp("", "pulumi-controller-e2e-"+name+"-")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(os.RemoveAll(dir)).To(Succeed()) })
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return ctx, dir
}

// newWorld starts a system in dir that counts the calls of Pulumi.
func newWorld(ctx context.Context, dir string, options system.Options) (*world, error) {
	w := &world{dir: dir}
	options.Dir = filepath.Join(dir, "system")
	options.PulumiDir = filepath.Join(dir, "pulumi")
	for _, path := range []string{options.Dir, options.PulumiDir, filepath.Join(dir, "tenants")} {
		if err := os.Mkdir(path, 0o755); err != nil {
			return nil, err
		}
	}
	options.WritePaths = append(options.WritePaths, w.callsFile())
	if err := os.WriteFile(w.callsFile(), nil, 0o600); err != nil {
		return nil, err
	}
	if err := w.writeCountingPulumi(options.PulumiDir); err != nil {
		return nil, err
	}
	var err error
	if w.artifacts, err = newArtifactServer(); err != nil {
		return nil, err
	}
	if w.System, err = system.Start(ctx, options); err != nil {
		return nil, errors.Join(err, w.artifacts.Close())
	}
	// Not the context of the system, which outlives ctx by a little: Stop ends the watch.
	if w.statuses, err = watchStatuses(context.WithoutCancel(ctx), w.System); err != nil {
		return nil, errors.Join(err, w.System.Stop(), w.artifacts.Close())
	}
	return w, nil
}

// Stop ends the system and everything else that newWorld started. A process that outlives the system is an error.
func (w *world) Stop() error {
	w.statuses.Stop()
	return errors.Join(w.System.Stop(), w.artifacts.Close(), w.endOrphans())
}

// endOrphans kills leftovers of runs, recognized by the system's directory in their environment.
func (w *world) endOrphans() error {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range environs {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte("HOME="+w.DataDir())) {
			continue // ended, or another user's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return err
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		errs = append(errs, fmt.Errorf("process %d was left behind: %s", pid, bytes.ReplaceAll(command, []byte{0}, []byte(" "))),
			syscall.Kill(pid, syscall.SIGKILL))
	}
	return errors.Join(errs...)
}

// writeCountingPulumi makes a pulumi that notes each call, with the backend it is for, before it becomes the real one.
func (w *world) writeCountingPulumi(dir string) error {
	note := `printf '%s\t%s\n' "${PULUMI_BACKEND_URL%%\?*}" "$*" >>'` + w.callsFile() + `'`
	return system.WritePulumi(dir, note)
}

func (w *world) callsFile() string { return filepath.Join(w.dir, "pulumi-calls") }

// calls lists the arguments of the calls of Pulumi for a backend, in the order they were made.
func (w *world) calls(backend string) ([]string, error) {
	text, err := os.ReadFile(w.callsFile())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var calls []string
	for line := range strings.Lines(string(text)) {
		if args, ok := strings.CutPrefix(line, backend+"\t"); ok {
			calls = append(calls, strings.TrimSpace(args))
		}
	}
	return calls, nil
}

// metrics returns the metrics of the controller.
func (w *world) metrics(ctx context.Context) ([]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.MetricsURL(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var lines []string
	scanner := bufio.NewScanner(response.Body)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	return lines, scanner.Err()
}

// reconciles counts the reconciles of one Stack since the controller started.
func (w *world) reconciles(ctx context.Context, namespace, name string) (int, error) {
	return w.countReconciles(ctx, fmt.Sprintf("name=%q", name), fmt.Sprintf("namespace=%q", namespace))
}

// allReconciles counts the reconciles of all Stacks.
func (w *world) allReconciles(ctx context.Context) (int, error) { return w.countReconciles(ctx) }

// countReconciles counts the reconciles whose metric has the labels.
func (w *world) countReconciles(ctx context.Context, labels ...string) (int, error) {
	lines, err := w.metrics(ctx)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, line := range lines {
		if !strings.HasPrefix(line, "gotk_reconcile_duration_seconds_count{") || !strings.Contains(line, `kind="Stack"`) ||
			slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(line, label) }) {
			continue
		}
		n, err := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// logLines returns the last lines of the controller's log that contain the text.
func (w *world) logLines(text string, limit int) string {
	log, err := os.ReadFile(w.ControllerLog())
	if err != nil {
		return err.Error()
	}
	var found []string
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return strings.Join(found[max(0, len(found)-limit):], "")
}
