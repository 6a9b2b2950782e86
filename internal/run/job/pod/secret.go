// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// Secret is the Secret of the run in the API server.
type Secret interface {
	Get(ctx context.Context) (*corev1.Secret, error)
	// Patch merges. It fails if the patch has a resource version that is not the current
	// one.
	Patch(ctx context.Context, patch []byte) error
}

// InCluster implements Secret with a client of the API server.
type InCluster struct {
	Client corev1client.SecretInterface
	Name   string
}

// Get implements Secret.
func (s InCluster) Get(ctx context.Context) (*corev1.Secret, error) {
	return s.Client.Get(ctx, s.Name, metav1.GetOptions{})
}

// Patch implements Secret.
func (s InCluster) Patch(ctx context.Context, patch []byte) error {
	_, err := s.Client.Patch(ctx, s.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "pulumi-runner"})
	return err
}

const (
	// requestTimeout bounds one request.
	requestTimeout = 30 * time.Second
	// beginPatience is how long to retry before the run starts if the API server is away.
	// The permission to read the Secret may be younger than the pod.
	beginPatience = 2 * time.Minute
	// refusedPatience is how long to retry what the API server wrongly refuses, as it may
	// while it starts.
	refusedPatience = time.Minute
	// endPatience is how long to retry when the run has ended if the API server is away.
	// The pod gets that time, and a little more, before it is killed.
	endPatience = 4*time.Minute + 30*time.Second
)

// faultError is a fault of the run itself.
type faultError struct{ error }

// finalError is an error that retrying does not change.
type finalError struct{ error }

// claim reads the run and makes sure that no other pod executes it. An error that is not
// a faultError means that the run is not this pod's.
func (o Options) claim(ctx context.Context) (exchange.Input, error) {
	var input exchange.Input
	var read *faultError
	data, err := exchange.EncodeClaim(o.Self)
	if err != nil {
		return input, err
	}
	var have []byte
	err = o.persist(ctx, beginPatience, func(ctx context.Context) error {
		secret, err := o.Secret.Get(ctx)
		if err != nil {
			return err
		}
		if len(secret.Data[exchange.ResultKey]) > 0 {
			return &finalError{errors.New("the controller has withdrawn the run, or it has already ended")}
		}
		if other := secret.Data[exchange.ClaimKey]; len(other) > 0 {
			if string(other) == string(data) && len(have) > 0 {
				return nil // by a write whose answer was lost
			}
			return &finalError{fmt.Errorf("another pod has the run: %s", other)}
		}
		have = secret.Data[exchange.RunKey]
		return o.patch(ctx, map[string]any{exchange.ClaimKey: data, exchange.RunKey: nil}, secret)
	})
	if err != nil {
		return input, fmt.Errorf("claiming the run: %w", err)
	}
	if input, err = exchange.DecodeInput(have, o.Digest); err != nil {
		read = &faultError{err}
		return input, read
	}
	return input, nil
}

// unclaimed returns the exit code if the run could not be claimed: the controller has to
// distinguish a closed network from a run that is another pod's, and from a request that
// ended with the pod.
func unclaimed(err error) int {
	if errors.Is(err, errTerminated) && errors.Is(err, context.Canceled) {
		return job.ExitStopped
	}
	var final *finalError
	if errors.As(err, &final) || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		return job.ExitNotStarted
	}
	return job.ExitUnreached
}

// finish writes the result, even if the pod is being terminated, and retries while the API
// server is away.
func (o Options) finish(operation run.Operation, ended run.Result) int {
	data, err := exchange.EncodeResult(operation, ended)
	if err != nil {
		o.Log.Error(err, "the result of the run cannot be written")
		return job.ExitNotReported
	}
	err = o.persist(context.Background(), endPatience, func(ctx context.Context) error {
		return o.patch(ctx, map[string]any{exchange.ResultKey: data, exchange.RunKey: nil, exchange.ProgressKey: nil}, nil)
	})
	if err != nil {
		o.Log.Error(err, "the result of the run cannot be written", "outcome", string(ended.Outcome), "message", ended.Message)
		return job.ExitNotReported
	}
	o.Log.Info("the run has ended", "outcome", string(ended.Outcome), "message", ended.Message)
	if ended.Outcome != run.Succeeded {
		return job.ExitFailed
	}
	return 0
}

// persist retries what fails because the API server is away or has not caught up yet. It
// gives up sooner on what the API server refuses.
func (o Options) persist(ctx context.Context, most time.Duration, try func(ctx context.Context) error) error {
	left := patience{most: most, began: time.Now()}
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 1000, Cap: 10 * time.Second}
	for {
		request, cancel := context.WithTimeout(ctx, requestTimeout)
		err := try(request)
		cancel()
		if err == nil {
			return nil
		}
		if left.isOver(err, time.Now()) {
			return err
		}
		o.Log.V(1).Info("a request to the API server failed, and is retried", "error", err.Error())
		timer := time.NewTimer(backoff.Step())
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", errTerminated, err)
		case <-timer.C:
		}
	}
}

// patience limits how long to retry a request.
type patience struct {
	most  time.Duration
	began time.Time
	// refused is since when the API server has only refused, zero if it was away the last
	// time. An API server that comes back refuses everything until it has caught up.
	refused time.Time
}

// isOver reports whether to give up after an error.
func (p *patience) isOver(err error, now time.Time) bool {
	switch {
	case !isRefusal(err):
		p.refused = time.Time{}
	case p.refused.IsZero():
		p.refused = now
	}
	// Retry after a timeout: the API server may be unreachable without an error that says
	// so.
	var final *finalError
	return errors.As(err, &final) || now.Sub(p.began) > p.most || (!p.refused.IsZero() && now.Sub(p.refused) > refusedPatience)
}

// isRefusal reports whether an API server has answered, and refused.
func isRefusal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// patch changes the data of the Secret. If exactly is set, it fails unless that is still
// the current version.
func (o Options) patch(ctx context.Context, data map[string]any, exactly *corev1.Secret) error {
	return patchSecret(ctx, o.Secret, data, exactly)
}

func patchSecret(ctx context.Context, secret Secret, data map[string]any, exactly *corev1.Secret) error {
	change := map[string]any{"data": data}
	if exactly != nil {
		change["metadata"] = map[string]any{"uid": exactly.UID, "resourceVersion": exactly.ResourceVersion}
	}
	text, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("writing to the Secret of the run: %w", err)
	}
	return secret.Patch(ctx, text)
}
