// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"net/http"
	"strconv"
)

// github is a GitHub Enterprise server.
func github() dialect {
	return dialect{
		inputs: "GitHubPullRequest", comments: "githubpullrequestcomment", statuses: "github", failed: "failure",
		head: "refs/pull/%d/head", header: "Authorization", token: "Bearer t0ken",
		routes: func(f *forge, mux *http.ServeMux) { f.routesAsGitHub(mux, "/api/v3") },
	}
}

// gitea has the API of GitHub at another place, with its version.
func gitea() dialect {
	return dialect{
		inputs: "GiteaPullRequest", comments: "giteapullrequestcomment", statuses: "gitea", failed: "failure",
		head: "refs/pull/%d/head", header: "Authorization", token: "token t0ken",
		routes: func(f *forge, mux *http.ServeMux) {
			f.routesAsGitHub(mux, "/api/v1")
			mux.HandleFunc("GET /api/v1/version", func(w http.ResponseWriter, _ *http.Request) {
				answer(w, http.StatusOK, map[string]string{"version": "1.22.0"})
			})
		},
	}
}

// The objects of GitHub and Gitea. A status has its state under two names: GitHub's and Gitea's.
type (
	gitHubUser struct {
		Login string `json:"login"`
	}
	gitHubLabel struct {
		Name string `json:"name"`
	}
	gitHubHead struct {
		Ref string `json:"ref"`
		SHA string `json:"sha"`
	}
	gitHubPull struct {
		Number int           `json:"number"`
		Title  string        `json:"title"`
		Head   gitHubHead    `json:"head"`
		User   gitHubUser    `json:"user"`
		Labels []gitHubLabel `json:"labels"`
	}
	gitHubComment struct {
		ID        int        `json:"id"`
		Body      string     `json:"body"`
		User      gitHubUser `json:"user"`
		UpdatedAt string     `json:"updated_at"`
	}
	gitHubReview struct {
		State       string     `json:"state"`
		CommitID    string     `json:"commit_id"`
		SubmittedAt string     `json:"submitted_at"`
		User        gitHubUser `json:"user"`
	}
	gitHubStatus struct {
		State       string `json:"state"`
		Status      string `json:"status"`
		Context     string `json:"context"`
		Description string `json:"description"`
	}
)

func (f *forge) routesAsGitHub(mux *http.ServeMux, base string) {
	repo := base + "/repos/acme/infra"
	mux.HandleFunc("GET "+base+"/user", f.to(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, gitHubUser{Login: forgeUser})
	}))
	mux.HandleFunc("GET "+repo+"/pulls", f.to(f.listPulls))
	mux.HandleFunc("GET "+repo+"/issues/{number}/comments", f.to(f.listComments))
	mux.HandleFunc("POST "+repo+"/issues/{number}/comments", f.to(f.post))
	mux.HandleFunc("PATCH "+repo+"/issues/comments/{id}", f.to(f.edit))
	mux.HandleFunc("GET "+repo+"/pulls/{number}/reviews", f.to(f.listReviews))
	mux.HandleFunc("GET "+repo+"/collaborators/{user}/permission", f.to(func(w http.ResponseWriter, r *http.Request) {
		permission := map[int]string{20: "read", 30: "write"}[levels()[r.PathValue("user")]]
		answer(w, http.StatusOK, map[string]string{"permission": cmp.Or(permission, "none")})
	}))
	mux.HandleFunc("GET "+repo+"/commits/{commit}/statuses", f.to(f.listStatuses))
	mux.HandleFunc("POST "+repo+"/statuses/{commit}", f.to(f.postStatus))
}

func (f *forge) listPulls(w http.ResponseWriter, _ *http.Request) {
	pulls := []gitHubPull{}
	for _, p := range f.open() {
		labels := []gitHubLabel{}
		for _, label := range p.labels {
			labels = append(labels, gitHubLabel{Name: label})
		}
		pulls = append(pulls, gitHubPull{
			Number: p.number, Title: p.title, Head: gitHubHead{Ref: p.branch, SHA: p.commit}, User: gitHubUser{Login: p.author}, Labels: labels,
		})
	}
	answer(w, http.StatusOK, pulls)
}

// number is a number in the path.
func number(r *http.Request, name string) int {
	number, _ := strconv.Atoi(r.PathValue(name)) // there is none with the number 0
	return number
}

func (f *forge) listComments(w http.ResponseWriter, r *http.Request) {
	comments := []gitHubComment{}
	for _, c := range f.on(number(r, "number")) {
		comments = append(comments, gitHubComment{ID: c.id, Body: c.text(), User: gitHubUser{Login: forgeUser}, UpdatedAt: at(c.edited)})
	}
	answer(w, http.StatusOK, comments)
}

func (f *forge) listReviews(w http.ResponseWriter, r *http.Request) {
	reviews := []gitHubReview{}
	for _, one := range f.pull(number(r, "number")).reviews {
		reviews = append(reviews, gitHubReview{State: "APPROVED", CommitID: one.commit, SubmittedAt: at(one.at), User: gitHubUser{Login: one.user}})
	}
	answer(w, http.StatusOK, reviews)
}

func (f *forge) listStatuses(w http.ResponseWriter, r *http.Request) {
	statuses := []gitHubStatus{}
	for _, s := range f.of(r.PathValue("commit")) {
		statuses = append(statuses, gitHubStatus{State: s.State, Status: s.State, Context: s.Context, Description: s.Description})
	}
	answer(w, http.StatusOK, statuses)
}

func (f *forge) postStatus(w http.ResponseWriter, r *http.Request) {
	var posted gitHubStatus
	if read(w, r, &posted) {
		f.addStatus(r.PathValue("commit"), commitStatus{State: posted.State, Context: posted.Context, Description: posted.Description})
		answer(w, http.StatusCreated, posted)
	}
}
