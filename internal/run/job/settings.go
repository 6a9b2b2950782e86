// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	psaapi "k8s.io/pod-security-admission/api"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Settings are the same for the pods of all runs.
type Settings struct {
	// Image contains the controller, which is copied into each pod. Pods whose Stack
	// names no image run this one. Required.
	Image string
	// PullPolicy of that image. Empty means the default of Kubernetes.
	PullPolicy corev1.PullPolicy
	// RuntimeImages are the images of pods by the runtime of their program. An image that
	// the Stack names takes precedence, and they take precedence over Defaults and Image.
	RuntimeImages map[string]string
	// PodSecurity is the Pod Security Standard that each pod has to comply with, whatever
	// its namespace enforces. Empty means restricted.
	PodSecurity psaapi.Level
	// Defaults are what each pod has, unless its Stack says otherwise.
	Defaults Defaults
	// Part identifies this controller among the shards. Empty means that there are none.
	Part string
	// Grace is how long the steps of stopping a run may take.
	Grace pulumi.Grace
	// Retries is how often to retry the download of an artifact.
	Retries int
	// NoPluginDownload makes Pulumi fail if a plugin is not installed.
	NoPluginDownload bool
	// DependencyCacheSize bounds the snapshots of dependencies on a volume, in bytes. 0 keeps none.
	DependencyCacheSize int64
	// Proxies are the network variables that runs get.
	Proxies map[string]string
	// LogLevel and LogEncoding are the controller's. Empty means the default of each.
	LogLevel, LogEncoding string
	// key derives the nonces of runs. New generates it.
	key string
	// runtime is that of a run's program, empty if it is not known, and runtimeImage the one of
	// RuntimeImages for it. Empty means none.
	runtime, runtimeImage string
	// namespaceUID is the UID of a run's namespace, if snapshots of dependencies are there.
	namespaceUID string
}

const (
	// startAllowance is how long a pod may take from the creation of its Job to its
	// start: to be scheduled, and to pull its image.
	startAllowance = 10 * time.Minute
	// writeAllowance is how long writing the result may take if the API server is away.
	writeAllowance = 5 * time.Minute
	// kept is how long a Job that has ended stays, so that its logs can be read.
	kept = 15 * time.Minute
)

// stopping is how long a pod may take to end once it is being terminated.
func (s Settings) stopping() time.Duration {
	return s.Grace.Total() + writeAllowance
}

// deadline is after how long Kubernetes ends the Job, whatever its pod does.
func (s Settings) deadline(r run.Run) time.Duration {
	rest := startAllowance + s.stopping()
	return rest + min(r.Timeout, math.MaxInt64-rest) // the longest that there is may be asked for
}

// nonce returns a value that nobody can guess. It is the same each time that the objects
// of the run are created, as an earlier try may have created the Secret.
func (s Settings) nonce(r run.Run) string {
	mac := hmac.New(sha256.New, []byte(s.key))
	mac.Write([]byte(r.ID))
	return hex.EncodeToString(mac.Sum(nil))
}

// arguments returns the arguments of the runner in the pod. None of them is secret.
func (s Settings) arguments(r run.Run) []string {
	args := []string{
		"runner",
		"--namespace=" + r.Namespace,
		"--secret=" + Name(r.ID),
		"--work-dir=" + workDir,
		"--plugins-dir=" + pluginsDir,
		"--account-dir=" + accountDir,
		"--cancel-grace=" + s.Grace.Finish.String(),
		"--http-retry=" + strconv.Itoa(s.Retries),
	}
	if s.NoPluginDownload {
		args = append(args, "--acquire-plugins=false")
	}
	if s.LogLevel != "" {
		args = append(args, "--log-level="+s.LogLevel)
	}
	if s.LogEncoding != "" {
		args = append(args, "--log-encoding="+s.LogEncoding)
	}
	return args
}
