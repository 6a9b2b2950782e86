// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// gitlab is a GitLab server. It filters by labels itself, and the name of a project is one segment of a path.
func gitlab() dialect {
	return dialect{
		inputs: "GitLabMergeRequest", comments: "gitlabmergerequestcomment", statuses: "gitlab", failed: "failed",
		head: "refs/merge-requests/%d/head", header: "Private-Token", token: "t0ken",
		routes: (*forge).routesAsGitLab,
	}
}

// The objects of GitLab. A status has its state under two names: to set it, and to read it.
type (
	gitLabUser struct {
		ID       int    `json:"id,omitempty"`
		Username string `json:"username"`
	}
	gitLabApproval struct {
		User       gitLabUser `json:"user"`
		ApprovedAt string     `json:"approved_at"`
	}
	gitLabMergeRequest struct {
		IID          int        `json:"iid"`
		Title        string     `json:"title"`
		SHA          string     `json:"sha"`
		SourceBranch string     `json:"source_branch"`
		Author       gitLabUser `json:"author"`
		Labels       []string   `json:"labels"`
		State        string     `json:"state"`
		TargetBranch string     `json:"target_branch"`
	}
	gitLabNote struct {
		ID        int        `json:"id"`
		Body      string     `json:"body"`
		Author    gitLabUser `json:"author"`
		UpdatedAt string     `json:"updated_at"`
	}
	gitLabStatus struct {
		SHA         string `json:"sha"`
		State       string `json:"state,omitempty"`
		Status      string `json:"status"`
		Name        string `json:"name"`
		Description string `json:"description"`
	}
)

func (f *forge) routesAsGitLab(mux *http.ServeMux) {
	const project = "/api/v4/projects/acme%2Finfra"
	mux.HandleFunc("GET /api/v4/user", f.to(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, gitLabUser{Username: forgeUser})
	}))
	mux.HandleFunc("GET "+project+"/merge_requests", f.to(f.listMergeRequests))
	mux.HandleFunc("GET "+project+"/merge_requests/{number}/notes", f.to(f.listNotes))
	mux.HandleFunc("POST "+project+"/merge_requests/{number}/notes", f.to(f.post))
	mux.HandleFunc("PUT "+project+"/merge_requests/{number}/notes/{id}", f.to(f.edit))
	mux.HandleFunc("GET "+project+"/merge_requests/{number}/approvals", f.to(f.listApprovals))
	mux.HandleFunc("GET "+project+"/members/all/{id}", f.to(func(w http.ResponseWriter, r *http.Request) {
		if id := number(r, "id"); id != idOfStrangers {
			answer(w, http.StatusOK, map[string]int{"access_level": id})
			return
		}
		http.Error(w, "{}", http.StatusNotFound)
	}))
	mux.HandleFunc("GET "+project+"/repository/commits/{commit}/merge_requests", f.to(f.listMergedWith))
	mux.HandleFunc("GET "+project+"/repository/commits/{commit}/statuses", f.to(f.listGitLabStatuses))
	mux.HandleFunc("POST "+project+"/statuses/{commit}", f.to(f.postGitLabStatus))
}

func (f *forge) listMergeRequests(w http.ResponseWriter, r *http.Request) {
	var labels []string
	if asked := r.URL.Query().Get("labels"); asked != "" {
		labels = strings.Split(asked, ",")
	}
	requests := []gitLabMergeRequest{}
	for _, p := range f.open(labels...) {
		requests = append(requests, mergeRequestOf(p, "opened"))
	}
	answer(w, http.StatusOK, requests)
}

func mergeRequestOf(p pull, state string) gitLabMergeRequest {
	return gitLabMergeRequest{
		IID: p.number, Title: p.title, SHA: p.commit, SourceBranch: p.branch, Author: gitLabUser{Username: p.author}, Labels: p.labels,
		State: state, TargetBranch: sources.Branch,
	}
}

// listMergedWith lists the merge requests of a commit of the main branch.
func (f *forge) listMergedWith(w http.ResponseWriter, r *http.Request) {
	requests := []gitLabMergeRequest{}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pulls {
		if p.merged == r.PathValue("commit") {
			requests = append(requests, mergeRequestOf(*p, "merged"))
		}
	}
	answer(w, http.StatusOK, requests)
}

// idOfStrangers is the ID of who is no member. That of a member is what they may do.
const idOfStrangers = 99

// listApprovals lists who has approved.
func (f *forge) listApprovals(w http.ResponseWriter, r *http.Request) {
	approvals := []gitLabApproval{}
	for _, one := range f.pull(number(r, "number")).reviews {
		approvals = append(approvals, gitLabApproval{User: gitLabUser{ID: cmp.Or(levels()[one.user], idOfStrangers), Username: one.user}, ApprovedAt: at(one.at)})
	}
	answer(w, http.StatusOK, map[string]any{"approved_by": approvals})
}

func (f *forge) listNotes(w http.ResponseWriter, r *http.Request) {
	notes := []gitLabNote{}
	for _, c := range f.on(number(r, "number")) {
		notes = append(notes, gitLabNote{ID: c.id, Body: c.text(), Author: gitLabUser{Username: forgeUser}, UpdatedAt: at(c.edited)})
	}
	slices.Reverse(notes) // the newest first
	answer(w, http.StatusOK, notes)
}

func (f *forge) listGitLabStatuses(w http.ResponseWriter, r *http.Request) {
	commit := r.PathValue("commit")
	statuses := []gitLabStatus{}
	for _, s := range f.of(commit) {
		if name := r.URL.Query().Get("name"); name == "" || name == s.Context {
			statuses = append(statuses, gitLabStatus{SHA: commit, Status: s.State, Name: s.Context, Description: s.Description})
		}
	}
	answer(w, http.StatusOK, statuses)
}

func (f *forge) postGitLabStatus(w http.ResponseWriter, r *http.Request) {
	var posted gitLabStatus
	if read(w, r, &posted) {
		f.addStatus(r.PathValue("commit"), commitStatus{State: posted.State, Context: posted.Name, Description: posted.Description})
		answer(w, http.StatusCreated, posted)
	}
}
