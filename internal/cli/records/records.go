// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package records reads the recorded runs of a Stack with the rights of a person, for the command history and the
// page. It must not contain how they are shown. To read them, call
//
//	Read(ctx, api client.Reader, namespace, name string) (*Records, error)
//
// which also finds the record of a deleted Stack that was retained (Gone). Then Entries has an entry for each run,
// newest first, in which consecutive runs that changed nothing share one, Records.Changes(entry, room) returns what
// the runs of an entry have changed, and Records.Log(run) the end of the log of a run. All values are masked and
// bounded, but anyone who may write ConfigMaps in the namespace can write texts in them: they are data.
package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

// MaxShown bounds what is shown of the changes of all runs, in bytes: anyone who may write ConfigMaps in the namespace
// can write a small one that unpacks to much.
const MaxShown = 32 << 20

// ErrNoLog says that the record of a run has no log, or that there is no record of it.
var ErrNoLog = errors.New("there is no log of the run")

// Records are the recorded runs of a Stack.
type Records struct {
	// Entries are those of the runs, newest first. Their metadata have what and why: operation, revision, changes,
	// run, changedIn, approvedBy, cause, request and message.
	Entries meta.History
	// Gone reports whether the Stack does not exist any more.
	Gone bool

	data map[string][]byte
}

// Change is what a run has changed, or why that is not known.
type Change struct {
	Run     string     `json:"run"`
	EndedAt *time.Time `json:"endedAt,omitempty"`
	// Approved is the digest of the plan that the run was to apply.
	Approved   string     `json:"approved,omitempty"`
	ApprovedBy string     `json:"approvedBy,omitempty"`
	Plan       *plan.Plan `json:"plan,omitempty"`
	Message    string     `json:"message,omitempty"`
}

// Read reads the record of a Stack, or what is retained of one that is gone.
func Read(ctx context.Context, api client.Reader, namespace, name string) (*Records, error) {
	stack := &v1.Stack{}
	err := api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, stack)
	if err == nil {
		return Of(ctx, api, stack)
	}
	if !apierrors.IsNotFound(err) {
		return nil, err
	}
	kept, readErr := configMap(ctx, api, namespace, name)
	if readErr != nil || kept == nil || !history.IsRetained(kept, name) {
		return nil, err // that the Stack is not there is what to say
	}
	records, err := of(kept.BinaryData, nil)
	if err != nil {
		return nil, err
	}
	records.Gone = true
	return records, nil
}

// Of reads the record of a Stack. A Stack of an earlier version of the controller has only the entries of its status.
func Of(ctx context.Context, api client.Reader, stack *v1.Stack) (*Records, error) {
	kept, err := configMap(ctx, api, stack.Namespace, stack.Name)
	switch {
	case err != nil:
		return nil, err
	case kept == nil:
		return of(nil, stack.Status.History)
	case !metav1.IsControlledBy(kept, stack) && !history.IsRetained(kept, stack.Name):
		return nil, fmt.Errorf("the ConfigMap %s does not belong to Stack %s, so the controller cannot write there what runs change: delete or rename it",
			client.ObjectKeyFromObject(kept), stack.Name)
	}
	return of(kept.BinaryData, stack.Status.History)
}

func of(data map[string][]byte, status meta.History) (*Records, error) {
	entries, known, err := history.Entries(data)
	if err != nil {
		return nil, err
	}
	if !known {
		entries = status
	}
	return &Records{Entries: entries, data: data}, nil
}

// configMap reads the ConfigMap of the record, nil if there is none.
func configMap(ctx context.Context, api client.Reader, namespace, name string) (*corev1.ConfigMap, error) {
	key := client.ObjectKey{Namespace: namespace, Name: history.ConfigMap(name)}
	kept := &corev1.ConfigMap{}
	err := api.Get(ctx, key, kept)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", key, err)
	}
	return kept, nil
}

// Changes returns what the runs of an entry have changed, as far as there is room, which it uses up. Begin with
// MaxShown.
func (r *Records) Changes(entry meta.Snapshot, room *int) []Change {
	runs := history.ChangedIn(entry.Metadata)
	if last := history.Run(entry.Metadata); len(r.data[history.Key(last)]) > 0 && !slices.Contains(runs, last) {
		runs = slices.Insert(runs, 0, last) // its result was lost
	}
	changes := []Change{}
	for _, id := range runs {
		if *room <= 0 {
			changes = append(changes, Change{Run: id, Message: "the details of the runs before are too large to show these too"})
			continue
		}
		change := r.changeOf(id)
		if change.Plan != nil {
			*room -= change.Plan.Size()
		}
		changes = append(changes, change)
	}
	return changes
}

func (r *Records) changeOf(id string) Change {
	kept, known := r.data[history.Key(id)]
	switch {
	case !known:
		return Change{Run: id, Message: "there are no details: they could not be written (see the log of the controller), or the pod of the run was of an earlier version"}
	case len(kept) == 0:
		return Change{Run: id, Message: "the details were dropped to make room for those of later runs"}
	}
	read, err := history.Decode(kept)
	if err != nil {
		return Change{Run: id, Message: err.Error()}
	}
	return Change{Run: id, EndedAt: &read.EndedAt, Approved: read.Approved, ApprovedBy: read.ApprovedBy, Plan: &read.Plan}
}

// Log returns the end of the log of a run, or ErrNoLog.
func (r *Records) Log(id string) (*run.Log, error) {
	data, known := r.data[history.LogKey(id)]
	if !known {
		return nil, ErrNoLog
	}
	log, err := runlog.Decode(data)
	if err != nil {
		return nil, err
	}
	if log == nil {
		return nil, ErrNoLog
	}
	return log, nil
}

// Find returns the ID of the one run that begins with a text.
func (r *Records) Find(begin string) (string, error) {
	found, runs := "", history.Runs(r.Entries)
	if slices.Contains(runs, begin) {
		return begin, nil
	}
	for _, id := range runs {
		switch {
		case !strings.HasPrefix(id, begin):
		case found != "" && found != id:
			return "", fmt.Errorf("more than one recorded run begins with %q", begin)
		default:
			found = id
		}
	}
	if found == "" {
		return "", fmt.Errorf("there is no record of run %q", begin)
	}
	return found, nil
}
