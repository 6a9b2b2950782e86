// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// forge stands in for the part of the REST API of a forge that flux-operator and notification-controller use, for the
// repository acme/infra. What it keeps is the same for each kind of forge; how it is asked for is its dialect.
type forge struct {
	test    *testing.T
	dialect dialect
	// url is that of the page of the repository, from which git clones as well if there is one.
	url string

	mu       sync.Mutex
	pulls    []*pull
	comments []*comment
	statuses map[string][]commitStatus // by commit, the newest first
}

// dialect is how a kind of forge is talked to.
type dialect struct {
	// inputs is the type of flux-operator's ResourceSetInputProvider, comments and statuses those of Providers.
	inputs, comments, statuses string
	// failed is the state of a commit that failed.
	failed string
	// head is the ref of the newest commit of a pull request, where the number is a %d.
	head string
	// header and token are what a client has to send.
	header, token string
	routes        func(*forge, *http.ServeMux)
}

// pull is what a forge knows of a pull request.
type pull struct {
	number                        int
	title, author, branch, commit string
	labels                        []string
	closed                        bool
	// merged is the commit of the merge, "" if there is none.
	merged  string
	reviews []review
}

// review is an approval of a pull request as it was then.
type review struct {
	user, commit string
	at           time.Time
}

// levels are the users who may review, with what they may do: 20 is read, 30 is write.
func levels() map[string]int { return map[string]int{"reader": 20, "jane": 30} }

// approves adds a review of the newest commit.
func (f *forge) approves(number int, user string) {
	f.set(number, func(p *pull) { p.reviews = append(p.reviews, review{user: user, commit: p.commit, at: time.Now()}) })
}

// pull returns a pull request.
func (f *forge) pull(number int) (found pull) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number > 0 && number <= len(f.pulls) {
		found = *f.pulls[number-1]
	}
	return found
}

// comment is one of a pull request, with each text that it has had.
type comment struct {
	id       int
	pull     int
	versions []string
	edited   time.Time
}

func (c *comment) text() string { return c.versions[len(c.versions)-1] }

// commitStatus is what a forge stores for each context of a commit.
type commitStatus struct{ State, Context, Description string }

const (
	// forgeUser is whose token the clients have, and who wrote all comments.
	forgeUser = "pulumi-bot"
	// maxBody bounds the requests that a stand-in reads.
	maxBody = 1 << 20
)

func readAll(r *http.Request) ([]byte, error) { return io.ReadAll(io.LimitReader(r.Body, maxBody)) }

// forge starts a forge for the duration of the test, which speaks as GitHub Enterprise does.
func (t *tenant) forge() *forge { return t.forgeOf(github(), nil) }

// forgeOf starts one of another kind, where git clones the repository from, too.
func (t *tenant) forgeOf(d dialect, repo *sources.GitRepo) *forge {
	t.test.Helper()
	f := &forge{test: t.test, dialect: d, statuses: map[string][]commitStatus{}}
	mux := http.NewServeMux()
	d.routes(f, mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.test.Errorf("a forge was asked for what it does not have: %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	if repo != nil {
		t.servesGit(mux, repo)
	}
	server := httptest.NewServer(mux)
	t.test.Cleanup(server.Close)
	f.url = server.URL + "/acme/infra"
	return f
}

// servesGit has the page of the repository be where git clones it from.
func (t *tenant) servesGit(mux *http.ServeMux, repo *sources.GitRepo) {
	t.test.Helper()
	behind, err := url.Parse(repo.URL())
	t.Expect(err).NotTo(HaveOccurred())
	mux.Handle("/acme/infra/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = behind.Scheme, behind.Host
		r.Out.URL.Path = behind.Path + strings.TrimPrefix(r.In.URL.Path, "/acme/infra")
	}})
}

// to wraps a handler of clients that have the token.
func (f *forge) to(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(f.dialect.header) != f.dialect.token {
			http.Error(w, `{"message": "the token is another"}`, http.StatusUnauthorized)
			return
		}
		handler(w, r)
	}
}

// answer writes JSON.
func answer(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value) // the client may be gone
}

// at is a time as forges write it, with milliseconds.
func at(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// read decodes a request, or answers that it cannot be. A form, as curl sends it, has only a body.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := readAll(r)
	if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		form, parseErr := url.ParseQuery(string(body))
		body, err = fmt.Appendf(nil, `{"body": %s}`, quoted(form.Get("body"))), errors.Join(err, parseErr)
	}
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		http.Error(w, `{"message": "not JSON"}`, http.StatusUnprocessableEntity)
	}
	return err == nil
}

// quoted is a text as JSON.
func quoted(text string) []byte {
	raw, _ := json.Marshal(text) // a text always can be
	return raw
}

// open are the pull requests that are, with all the labels.
func (f *forge) open(labels ...string) []pull {
	f.mu.Lock()
	defer f.mu.Unlock()
	var open []pull
	for _, p := range f.pulls {
		lacks := func(label string) bool { return !slices.Contains(p.labels, label) }
		if !p.closed && !slices.ContainsFunc(labels, lacks) {
			open = append(open, *p)
		}
	}
	return open
}

// set changes what the forge knows of a pull request.
func (f *forge) set(number int, change func(*pull)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f.pulls[number-1])
}

// addStatus keeps a status of a commit.
func (f *forge) addStatus(commit string, status commitStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses[commit] = append([]commitStatus{status}, f.statuses[commit]...)
}

// of returns the statuses of a commit, newest first.
func (f *forge) of(commit string) []commitStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.statuses[commit])
}

// commits counts the commits that have a status.
func (f *forge) commits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.statuses)
}

// addComment adds a comment to a pull request, and returns its number.
func (f *forge) addComment(pull int, text string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.comments = append(f.comments, &comment{id: 1000 + len(f.comments), pull: pull, versions: []string{text}, edited: time.Now()})
	return 1000 + len(f.comments) - 1
}

// editComment replaces the text of a comment, and keeps the former.
func (f *forge) editComment(id int, text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.comments {
		if c.id == id {
			c.versions, c.edited = append(c.versions, text), time.Now()
			return true
		}
	}
	return false
}

// postedComment is a comment as a client sends it, and as each kind of forge answers.
type postedComment struct {
	ID     int        `json:"id"`
	Body   string     `json:"body"`
	User   gitHubUser `json:"user"`
	Author gitLabUser `json:"author"`
}

// post adds the comment that is sent.
func (f *forge) post(w http.ResponseWriter, r *http.Request) {
	var posted postedComment
	if read(w, r, &posted) {
		posted.ID, posted.User.Login, posted.Author.Username = f.addComment(number(r, "number"), posted.Body), forgeUser, forgeUser
		answer(w, http.StatusCreated, posted)
	}
}

// edit replaces the text of a comment by what is sent.
func (f *forge) edit(w http.ResponseWriter, r *http.Request) {
	var posted postedComment
	if !read(w, r, &posted) {
		return
	}
	if posted.ID = number(r, "id"); !f.editComment(posted.ID, posted.Body) {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	answer(w, http.StatusOK, posted)
}

// on returns the comments on a pull request.
func (f *forge) on(pull int) []comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []comment
	for _, c := range f.comments {
		if c.pull == pull {
			found = append(found, comment{id: c.id, pull: c.pull, versions: slices.Clone(c.versions), edited: c.edited})
		}
	}
	return found
}

// awaitStatus waits until this is the newest status of a commit.
func (t *tenant) awaitStatus(f *forge, commit, state, description string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		statuses := f.of(commit)
		g.Expect(statuses).NotTo(BeEmpty(), "commit %s has no status", commit)
		g.Expect(statuses[0].State).To(Equal(state))
		g.Expect(statuses[0].Description).To(Equal(description))
		g.Expect(statuses[0].Context).To(HavePrefix("stack/app/"))
	}).Should(Succeed())
}
