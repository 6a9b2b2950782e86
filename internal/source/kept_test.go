// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOfKept(t *testing.T) {
	type change = func(*sourcev1.GitRepository)
	with := func(kind, message string, generation int64) change {
		return func(repo *sourcev1.GitRepository) {
			repo.Status.Conditions = append(repo.Status.Conditions, metav1.Condition{
				Type: kind, Status: metav1.ConditionTrue, Message: message, ObservedGeneration: generation,
			})
		}
	}
	stored := func(generation int64) change { return with(sourcev1.ArtifactInStorageCondition, "stored", generation) }
	failed := func(generation int64) change {
		return with(sourcev1.FetchFailedCondition, "authentication required: hunter2", generation)
	}
	artifact := func(repo *sourcev1.GitRepository) {
		repo.Status.Artifact = &fluxmeta.Artifact{URL: "http://source/a.tgz", Digest: "sha256:a", Revision: "main@sha1:a"}
	}
	asked := func(repo *sourcev1.GitRepository) {
		repo.Annotations = map[string]string{fluxmeta.ReconcileRequestAnnotation: "now"}
	}
	answered := func(repo *sourcev1.GitRepository) { repo.Status.LastHandledReconcileAt = "now" }
	for name, test := range map[string]struct {
		changes []change
		want    error
		says    string
	}{
		"fetched":                         {[]change{artifact, stored(2)}, nil, ""},
		"fetched for an older spec":       {[]change{artifact, stored(1)}, ErrFetching, "has not fetched"},
		"an artifact without a condition": {[]change{artifact}, ErrFetching, "has not fetched"},
		"nothing yet":                     {nil, ErrFetching, "has not fetched"},
		"asked, and not answered":         {[]change{artifact, stored(2), asked}, ErrFetching, "has not handled the request to fetch"},
		"failed":                          {[]change{failed(2)}, ErrFetchFailed, "cannot fetch: authentication required: ***"},
		"failed, with an older artifact":  {[]change{artifact, stored(2), failed(2)}, ErrFetchFailed, "cannot fetch"},
		"failed to store":                 {[]change{artifact, stored(2), with(sourcev1.StorageOperationFailedCondition, "full", 2)}, ErrFetchFailed, "full"},
		"failed for an older spec":        {[]change{failed(1)}, ErrFetching, "has not fetched"},
		"asked, having failed before":     {[]change{failed(2), asked}, ErrFetching, "has not handled the request to fetch"},
		"asked, and failed since":         {[]change{asked, failed(2), answered}, ErrFetchFailed, "cannot fetch"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			repo := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", Generation: 2}}
			for _, change := range test.changes {
				change(repo)
			}
			found, err := OfKept(repo, func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") })
			if test.want == nil {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(found.Revision).To(Equal("main@sha1:a"))
				return
			}
			g.Expect(err).To(MatchError(test.want))
			g.Expect(err).To(MatchError(ContainSubstring(test.says)))
		})
	}
}
