// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package exchange encodes and decodes what the controller and the pod of a run exchange:
// the data of one Secret. Both sides use it, so that they understand each other. It has
// no client, and does not know who writes what when.
//
// The controller does not trust what the pod has written: the program of a tenant can
// write it too. Everything that is decoded is bounded, and none of it is code.
package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The keys of the Secret's data.
const (
	// RunKey holds the Input, from the controller, until the pod has read it.
	RunKey = "run"
	// ClaimKey holds the Claim of the pod that executes the run. Once it is set, no other
	// pod executes it.
	ClaimKey = "claim"
	// CancelKey holds a Cancel, from the controller, for the pod that executes the run.
	CancelKey = "cancel"
	// ProgressKey holds the ProgressReport of the pod. Its value is older than its name.
	ProgressKey = "told"
	// ResultKey holds the result. Nothing is written after it.
	ResultKey = "result"
)

const (
	// MaxData bounds the data of a Secret, in bytes: Kubernetes accepts a mebibyte.
	MaxData = 1<<20 - 16<<10
	// maxRun leaves room for what the pod writes beside the run.
	maxRun = MaxData - maxProgress - 4<<10
	// maxClaim bounds a Claim.
	maxClaim = 4 << 10
	// maxProgress bounds a ProgressReport.
	maxProgress = 128 << 10
	// maxRunText and maxText bound a run and a result when they are unpacked: a mebibyte
	// can unpack to a thousand.
	maxRunText = 32 << 20
	maxText    = 16 << 20
	// maxMembers bounds the members of all lists and objects of a result together: as
	// many as the lists of the driver and a mebibyte of outputs can have. Each takes up
	// to a hundred bytes of the controller's memory, and several times that while it is
	// decoded.
	maxMembers = 500_000
)

// mostOfRun bounds an Input. Only the pod reads it, and only as the controller has
// written it.
func mostOfRun() bounded.Size {
	return bounded.Size{Data: maxRun, Text: maxRunText, Members: maxRunText}
}

// mostOfResult bounds a result, which a tenant can write too.
func mostOfResult() bounded.Size {
	return bounded.Size{Data: MaxData, Text: maxText, Members: maxMembers}
}

// ErrTooLarge says that no Secret can hold an Input or a result.
var ErrTooLarge = errors.New("is too large for a Secret")

// Input is what a pod has to do.
type Input struct {
	Run run.Run
	// SecretEnv are the names of the variables of the container whose values have to be
	// masked.
	SecretEnv []string `json:",omitempty"`
	// Proxies are the network variables that Pulumi gets if the pod does not have them. Policy
	// packs get these alone.
	Proxies map[string]string `json:",omitempty"`
	// Nonce is random and unique to the run. The digest is public: without a nonce, a
	// short secret of the run could be found by trying.
	Nonce string
}

// Claim identifies the pod that executes the run.
type Claim struct {
	Pod string
	UID string
	At  time.Time
}

// Cancel is how a run is to end early.
type Cancel string

const (
	// NotCancelled lets the run continue.
	NotCancelled Cancel = ""
	// CancelGently finishes the operations in flight, and starts no others.
	CancelGently Cancel = "Gently"
	// CancelNow does not wait for the operations in flight.
	CancelNow Cancel = "Now"
)

// DecodeCancel decodes a Cancel. Anything unknown is NotCancelled.
func DecodeCancel(data []byte) Cancel {
	switch read := Cancel(data); read {
	case CancelGently, CancelNow:
		return read
	}
	return NotCancelled
}

// ProgressReport is what the pod reports about a run in flight.
type ProgressReport struct {
	Progress run.Progress
	// UnknownCreates are the creations of unknown outcome.
	UnknownCreates []string `json:",omitempty"`
	// Found is what the run has found out about its stack.
	Found run.Found
}

// EncodeInput encodes the Input for the Secret, and returns its digest. The error is
// ErrTooLarge if it does not fit.
func EncodeInput(input Input) (data []byte, digest string, err error) {
	data, size, err := bounded.Pack(forAllPods(input))
	if err != nil {
		return nil, "", fmt.Errorf("writing the run: %w", err)
	}
	if !size.Fits(mostOfRun()) {
		return nil, "", fmt.Errorf("the run, with the text of its program, its config and its environment, %w: %d bytes compressed, and at most %d are allowed",
			ErrTooLarge, len(data), maxRun)
	}
	sum := sha256.Sum256(data)
	return data, "sha256:" + hex.EncodeToString(sum[:]), nil
}

// DecodeInput decodes the Input, which must have the digest: someone else may have
// written the Secret meanwhile.
func DecodeInput(data []byte, digest string) (Input, error) {
	sum := sha256.Sum256(data)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != digest {
		return Input{}, fmt.Errorf("reading the run: it was changed: its digest is %s, and should be %s", got, digest)
	}
	var read sent
	if err := bounded.Unpack(data, mostOfRun(), &read); err != nil {
		return Input{}, fmt.Errorf("reading the run: %w", err)
	}
	input, err := read.input()
	if err != nil {
		return Input{}, fmt.Errorf("reading the run: %w", err)
	}
	return input, nil
}

// EncodeClaim encodes the Claim for the Secret.
func EncodeClaim(claim Claim) ([]byte, error) { return json.Marshal(claim) }

// DecodeClaim decodes the Claim. It returns a Claim of no pod if it cannot.
func DecodeClaim(data []byte) Claim {
	var claim Claim
	if len(data) > maxClaim || json.Unmarshal(data, &claim) != nil {
		return Claim{}
	}
	return claim
}

// EncodeProgress encodes the report for the Secret. If not all creations fit, it has the
// first; the result has all of them.
func EncodeProgress(report ProgressReport) ([]byte, error) {
	for {
		data, err := json.Marshal(report)
		if err != nil || len(data) <= maxProgress || len(report.UnknownCreates) == 0 {
			return data, err
		}
		report.UnknownCreates = report.UnknownCreates[:len(report.UnknownCreates)/2]
	}
}

// DecodeProgress decodes the report. It returns nothing if it cannot.
func DecodeProgress(data []byte) ProgressReport {
	var report ProgressReport
	if len(data) > maxProgress || json.Unmarshal(data, &report) != nil {
		return ProgressReport{}
	}
	report.UnknownCreates = boundedURNs(report.UnknownCreates)
	for _, text := range []*string{&report.Found.Project.Name, &report.Found.Project.Runtime, &report.Found.Backend} {
		*text = cut(*text, maxName)
	}
	report.Progress.Done, report.Progress.InFlight = boundedChanges(report.Progress.Done), boundedCount(report.Progress.InFlight)
	if waiting := report.Progress.Waiting; waiting != run.Installing && waiting != run.StartingProgram {
		report.Progress.Waiting = "" // pods report nothing else: a tenant has written it
	}
	return report
}
