// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

const urlField = "spec.projectRepo"

// Remote is the location of a git repository.
type Remote struct {
	// URL for source-controller, without a password, and with a user only for ssh.
	URL string
	// Scheme is https, http or ssh.
	Scheme string
	// Host without its port, and the Port if given.
	Host, Port string
	// User and Password given in the URL, for https and http.
	User, Password string
}

// IsSSH reports whether the repository is accessed over ssh.
func (r Remote) IsSSH() bool { return r.Scheme == "ssh" }

// mayBeToken reports whether the user in the URL may be an access token: it has no password
// and is not merely a name. The clone URLs of some forges have the repository owner as
// user, others git. Sending such a name as a credential would make the forge refuse
// people who can read the repository without any.
func (r Remote) mayBeToken() bool {
	if r.IsSSH() || r.User == "" || r.Password != "" || strings.EqualFold(r.User, tokenUser) {
		return false
	}
	u, err := url.Parse(r.URL)
	return err != nil || !slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool { return strings.EqualFold(part, r.User) })
}

// scpLike matches git's short form for ssh, <user>@<host>:<path>. What follows the colon
// is a path, never a port.
var scpLike = regexp.MustCompile(`^([^@/:\s]+)@(\[[0-9a-fA-F:.]+\]|[^@/:\s\[\]]+):(.+)$`)

// ParseURL parses the URL of a repository. The error is an inputs.InvalidError without
// any part of the URL that may be a credential.
func ParseURL(text string) (Remote, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		short := scpLike.FindStringSubmatch(text)
		if short == nil {
			return Remote{}, invalidURL("is not the URL of a git repository: use https://<host>/<path> or ssh://<user>@<host>/<path>")
		}
		text = fmt.Sprintf("ssh://%s@%s/%s", short[1], short[2], strings.TrimPrefix(short[3], "/"))
	}
	u, err := url.Parse(text)
	if err != nil {
		// The error of net/url contains the URL.
		return Remote{}, invalidURL("is not a valid URL: use https://<host>/<path> or ssh://<user>@<host>/<path>")
	}
	return remoteOf(u)
}

// remoteOf refuses what source-controller would refuse, or would make public.
func remoteOf(u *url.URL) (Remote, error) {
	switch u.Scheme {
	case "https", "http", "ssh":
	case "file":
		return Remote{}, invalidURL("is a local path, which source-controller cannot read: use the https, http or ssh URL of a git server")
	default:
		return Remote{}, invalidURL(fmt.Sprintf("has the scheme %q, but source-controller only supports https, http and ssh", u.Scheme))
	}
	switch {
	case u.Hostname() == "":
		return Remote{}, invalidURL("has no host")
	case strings.Trim(u.Path, "/") == "":
		return Remote{}, invalidURL("has no repository path")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Remote{}, invalidURL("must not have a query or a fragment, because the URL is not secret: set credentials in spec.gitAuth and a branch in spec.branch")
	}
	r := Remote{Scheme: u.Scheme, Host: u.Hostname(), Port: u.Port()}
	plain := *u
	password, hasPassword := u.User.Password()
	switch {
	case !r.IsSSH():
		r.User, r.Password = u.User.Username(), password
		plain.User = nil
	case hasPassword:
		return Remote{}, invalidURL("must not have a password: ssh needs a key in spec.gitAuth.sshAuth")
	}
	r.URL = plain.String()
	return r, nil
}

func invalidURL(problem string) error {
	return &inputs.InvalidError{Field: urlField, Problem: problem}
}
