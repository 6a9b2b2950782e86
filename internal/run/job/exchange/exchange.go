// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package exchange is what the controller and the pod of a run tell each other: the
// data of one Secret. Both sides read and write it here, so that they understand
// each other. Who writes it when is not known here, and there is no client.
//
// The controller does not trust what the pod has written: the program of a tenant
// can write it too. All that is read is bounded, and nothing of it is code.
package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/packed"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The keys of the Secret's data.
const (
	// RunKey has the Input, from the controller, until the pod has read it.
	RunKey = "run"
	// ClaimKey has the Claim of the pod that does the run. Where it is, there is no
	// other pod to do it.
	ClaimKey = "claim"
	// CancelKey has a Cancel, from the controller, for the pod that does the run.
	CancelKey = "cancel"
	// ToldKey has what the pod Told of a run in flight.
	ToldKey = "told"
	// ResultKey has the result, which nothing follows.
	ResultKey = "result"
)

const (
	// MaxData bounds all that is in a Secret at a time, in bytes: Kubernetes takes a
	// mebibyte.
	MaxData = 1<<20 - 16<<10
	// maxRun leaves room for what the pod tells beside it.
	maxRun = MaxData - maxTold - 4<<10
	// maxClaim bounds a Claim.
	maxClaim = 4 << 10
	// maxTold bounds what is told of a run in flight.
	maxTold = 128 << 10
	// maxRunText and maxText bound a run and a result when they are unpacked: a mebibyte can
	// hold a thousand.
	maxRunText = 32 << 20
	maxText    = 16 << 20
	// maxMembers bounds those of all lists and objects of a result together: as many as the
	// lists of the driver and a mebibyte of outputs have. Each takes up to a hundred bytes of
	// the controller, and some times that while they are read.
	maxMembers = 500_000
)

// mostOfRun is how large an Input may be. It is read by the pod alone, and only as the
// controller has written it.
func mostOfRun() packed.Size { return packed.Size{Data: maxRun, Text: maxRunText, Members: maxRunText} }

// mostOfResult is how large a result may be. A tenant can write it too.
func mostOfResult() packed.Size {
	return packed.Size{Data: MaxData, Text: maxText, Members: maxMembers}
}

// ErrTooLarge is an Input or a result that no Secret can hold.
var ErrTooLarge = errors.New("is larger than a Secret can be")

// Input is what a pod is to do.
type Input struct {
	Run run.Run
	// SecretEnv are the names of the variables of the container whose values no text
	// may show.
	SecretEnv []string `json:",omitempty"`
	// Proxies are the variables of the network that Pulumi gets where the pod has none.
	Proxies map[string]string `json:",omitempty"`
	// Nonce is of this run alone, and nobody can guess it. The digest is told in the open:
	// without a nonce, a short secret of the run could be found by trying.
	Nonce string
}

// Claim is which pod does the run.
type Claim struct {
	Pod string
	UID string
	At  time.Time
}

// Cancel is how a run is to end before its time.
type Cancel string

const (
	// NotCancelled is a run that goes on.
	NotCancelled Cancel = ""
	// CancelGently finishes what is in flight, and begins nothing else.
	CancelGently Cancel = "Gently"
	// CancelNow does not wait for what is in flight.
	CancelNow Cancel = "Now"
)

// DecodeCancel reads a Cancel. What is none is NotCancelled.
func DecodeCancel(data []byte) Cancel {
	switch read := Cancel(data); read {
	case CancelGently, CancelNow:
		return read
	}
	return NotCancelled
}

// Told is what is known of a run while it is in flight.
type Told struct {
	Progress run.Progress
	// UnknownCreates are the creations of unknown outcome.
	UnknownCreates []string `json:",omitempty"`
}

// EncodeInput returns the Input as it is in the Secret, and its digest. The error is
// ErrTooLarge for one that has no room there.
func EncodeInput(input Input) (data []byte, digest string, err error) {
	data, size, err := packed.Pack(input)
	if err != nil {
		return nil, "", fmt.Errorf("writing the run: %w", err)
	}
	if !size.Fits(mostOfRun()) {
		return nil, "", fmt.Errorf("the run, with the text of its program, its config and its environment, %w: it has %d bytes packed, of %d at most",
			ErrTooLarge, len(data), maxRun)
	}
	sum := sha256.Sum256(data)
	return data, "sha256:" + hex.EncodeToString(sum[:]), nil
}

// DecodeInput reads the Input, which must have the digest: somebody else may have
// written the Secret meanwhile.
func DecodeInput(data []byte, digest string) (Input, error) {
	sum := sha256.Sum256(data)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != digest {
		return Input{}, fmt.Errorf("reading the run: it was changed by somebody: its digest is %s, and should be %s", got, digest)
	}
	var input Input
	if err := packed.Unpack(data, mostOfRun(), &input); err != nil {
		return Input{}, fmt.Errorf("reading the run: %w", err)
	}
	return input, nil
}

// EncodeClaim returns the Claim as it is in the Secret.
func EncodeClaim(claim Claim) ([]byte, error) { return json.Marshal(claim) }

// DecodeClaim reads the Claim. What cannot be read is that of no pod.
func DecodeClaim(data []byte) Claim {
	var claim Claim
	if len(data) > maxClaim || json.Unmarshal(data, &claim) != nil {
		return Claim{}
	}
	return claim
}

// EncodeTold returns what is told, as it is in the Secret. Where there is no room for
// all the creations, the first are told of now, and all with the result.
func EncodeTold(told Told) ([]byte, error) {
	for {
		data, err := json.Marshal(told)
		if err != nil || len(data) <= maxTold || len(told.UnknownCreates) == 0 {
			return data, err
		}
		told.UnknownCreates = told.UnknownCreates[:len(told.UnknownCreates)/2]
	}
}

// DecodeTold reads what was told. What cannot be read is as good as nothing.
func DecodeTold(data []byte) Told {
	var told Told
	if len(data) > maxTold || json.Unmarshal(data, &told) != nil {
		return Told{}
	}
	told.UnknownCreates = boundedURNs(told.UnknownCreates)
	told.Progress.Done, told.Progress.InFlight = boundedChanges(told.Progress.Done), boundedCount(told.Progress.InFlight)
	if told.Progress.Waiting != run.Installing {
		told.Progress.Waiting = "" // a tenant may have written it, and nothing else is told by a pod
	}
	return told
}
