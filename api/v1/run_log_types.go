// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// RunLogStatus locates the end of the log of the last run that was a Job, as
// the log of its pod is gone with the Job. `flux pulumi logs` shows it.
type RunLogStatus struct {
	// Run is the ID of the run.
	// +optional
	Run string `json:"run,omitempty"`

	// ConfigMap is the name of a ConfigMap that the Stack owns. Its key
	// log.json.gz in binaryData contains up to the last 1000 lines or 128 KiB of
	// the log of the run, as gzipped JSON.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`

	// Digest of the content of the key, as sha256:<checksum>.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Message says why the log could not be written.
	// +optional
	Message string `json:"message,omitempty"`
}
