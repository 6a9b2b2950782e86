// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package holder identifies the process that records a run, and proves that another that
// recorded one is dead. Nothing is ever concluded from the age of a record.
package holder

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// This identifies this process, which has locked the file at that path; "" if none.
func This(lock string) (v1.RunHolder, error) {
	host, err := os.Hostname()
	if err != nil {
		return v1.RunHolder{}, fmt.Errorf("failed to read the host name: %w", err)
	}
	here, err := thisInstance(lock)
	if err != nil {
		return v1.RunHolder{}, fmt.Errorf("failed to read what identifies this process: %w", err)
	}
	return v1.RunHolder{Host: host, Instance: here.String()}, nil
}

// Prover proves that processes that recorded runs are dead.
type Prover struct {
	// Here is this process. Unless it is a pod, nothing can be proven about a process on
	// another host.
	Here v1.RunHolder
	// Reader reads pods from the API server.
	Reader client.Reader
}

// Gone reports whether the process that recorded a run at that time is proven to be gone,
// by what this host knows or by its pod. A pod proves it if it does not exist, was
// replaced by another of that name, or had its containers end since then; one that merely
// exists may be out of reach. A holder without the UID of a pod is on the host network or
// outside of the cluster: its host name is not that of a pod, so a missing pod proves
// nothing. Nor does one that is missing in another namespace than that of the holder.
func (p Prover) Gone(ctx context.Context, holder v1.RunHolder, recorded time.Time) (bool, error) {
	if gone, proven := p.goneHere(holder); proven {
		return gone, nil
	}
	if holder.PodUID == "" || holder.PodNamespace == "" || holder.PodNamespace != p.Here.PodNamespace {
		return false, nil
	}
	pod := &corev1.Pod{}
	err := p.Reader.Get(ctx, client.ObjectKey{Namespace: holder.PodNamespace, Name: holder.Host}, pod)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("failed to read pod %s/%s: %w", holder.PodNamespace, holder.Host, err)
	}
	return podGone(pod, holder.PodUID, recorded), nil
}

// goneHere reports whether the process is gone, and whether that is proven by what this
// process can see of its own machine.
func (p Prover) goneHere(holder v1.RunHolder) (gone, proven bool) {
	other, err := parseInstance(holder.Instance)
	if err != nil {
		return false, false
	}
	here, err := parseInstance(p.Here.Instance)
	if err != nil {
		return false, false
	}
	switch {
	case other.boot == here.boot && other.lock == here.lock && here.lock != "" && other != here:
		// It held the lock on the same file of the same machine as long as it lived.
		return true, true
	case holder.Host != p.Here.Host:
		return false, false
	case other.boot != here.boot:
		return true, true
	case other.namespace != here.namespace:
		// Its PID means nothing here: two pods on the host network of one node, and the
		// containers of one pod, share a host name.
		return false, false
	}
	return other.isGone()
}
