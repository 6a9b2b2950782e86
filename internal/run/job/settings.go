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
	// Image has the controller, which is copied out of it into each pod, and is what
	// the pods run whose Stack names no image. Required.
	Image string
	// PullPolicy is when that image is pulled. Empty is as Kubernetes does it.
	PullPolicy corev1.PullPolicy
	// PodSecurity is the level of Kubernetes' Pod Security Standards that each pod has
	// to keep to, whatever its namespace enforces. Empty is restricted.
	PodSecurity psaapi.Level
	// Part tells this controller from those of other shards. Empty is the only one.
	Part string
	// Grace is how long the steps of stopping a run may take.
	Grace pulumi.Grace
	// Retries is how often the download of an artifact is tried again.
	Retries int
	// NoPluginDownload has Pulumi fail where a plugin is not installed.
	NoPluginDownload bool
	// Proxies are the variables of the network that runs are handed.
	Proxies map[string]string
	// LogLevel and LogEncoding are those of the controller. Empty is the default of each.
	LogLevel, LogEncoding string
	// key is what the nonces of runs are made from. New draws it.
	key string
}

const (
	// startAllowance is how long a pod may take from its Job to its start: for a slot
	// on a node, and for its image.
	startAllowance = 10 * time.Minute
	// writeAllowance is how long the result may take to be written, when the API server
	// is away.
	writeAllowance = 5 * time.Minute
	// kept is how long a Job that has ended stays, for its logs to be read.
	kept = 15 * time.Minute
	// defaultTimeout bounds a run that names no timeout.
	defaultTimeout = time.Hour
)

// stopping is how long a pod takes at most from when it is told to end.
func (s Settings) stopping() time.Duration {
	return s.Grace.Total() + writeAllowance
}

// deadline is when Kubernetes ends the Job, whatever its pod does.
func (s Settings) deadline(r run.Run) time.Duration {
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	rest := startAllowance + s.stopping()
	return rest + min(timeout, math.MaxInt64-rest) // the longest that there is may be asked for
}

// nonce is what nobody can guess of a run. It is the same each time that its objects are
// made, as an earlier try may have made the Secret.
func (s Settings) nonce(r run.Run) string {
	mac := hmac.New(sha256.New, []byte(s.key))
	mac.Write([]byte(r.ID))
	return hex.EncodeToString(mac.Sum(nil))
}

// arguments of the runner in the pod. There is no secret among them.
func (s Settings) arguments(r run.Run, digest string) []string {
	args := []string{
		"runner",
		"--namespace=" + r.Namespace,
		"--secret=" + Name(r.ID),
		"--run-digest=" + digest,
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
