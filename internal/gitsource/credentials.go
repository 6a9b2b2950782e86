// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/runtime/secrets"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

const (
	authField       = "spec.gitAuth"
	authSecretField = "spec.gitAuthSecret"
	// tokenUser is the user for access tokens if the URL names none, as in the Pulumi
	// operator. Git forges accept any user, but not an empty one.
	tokenUser = "git"
)

// Keys of the Secret that gitAuthSecret names. known_hosts may also be in the Secret of
// the SSH key.
const (
	keySSHPrivateKey = "sshPrivateKey"
	keyAccessToken   = "accessToken"
	keyUserName      = "username"
	keyPassword      = "password"
	keyKnownHosts    = secrets.KeySSHKnownHosts
)

// Values reads the values that a Stack refers to.
type Values interface {
	// Value resolves the reference in the field.
	Value(ctx context.Context, field string, ref v1.ResourceRef) (string, error)
	// Data returns the data of the Secret that the field names. The namespace defaults to
	// that of the Stack.
	Data(ctx context.Context, field, namespace, name string) (map[string][]byte, error)
}

// Credentials are the credentials for a repository in the format of Flux.
type Credentials struct {
	// Provider of the GitRepository, "" for the generic one.
	Provider string
	// Data of the Secret. Nil means that none is needed.
	Data map[string][]byte
}

// Resolve reads the credentials of a Stack that fit the repository. The errors are those
// of package inputs.
func Resolve(ctx context.Context, values Values, spec v1.GitSource, remote Remote) (Credentials, error) {
	switch {
	case spec.GitAuth != nil:
		return fromAuth(ctx, values, *spec.GitAuth, remote)
	case spec.GitAuthSecret != "":
		return fromSecret(ctx, values, spec.GitAuthSecret, remote)
	case remote.IsSSH():
		return Credentials{}, &inputs.InvalidError{Field: authField, Problem: "is required: an ssh URL needs a key in sshAuth"}
	case remote.Password != "":
		return userAndPassword(cmp.Or(remote.User, tokenUser), remote.Password), nil
	case remote.mayBeToken():
		// Like go-git, which the Pulumi operator clones with. source-controller accepts a
		// user without a password, and no particular password would suit all forges.
		return userAndPassword(remote.User, ""), nil
	}
	return Credentials{}, nil
}

// fromAuth uses the first credentials in gitAuth that fit the URL: a key is useless over
// https, and a token over ssh.
func fromAuth(ctx context.Context, values Values, auth v1.GitAuth, remote Remote) (Credentials, error) {
	switch {
	case remote.IsSSH() && auth.SSHAuth != nil:
		return fromKey(ctx, values, *auth.SSHAuth, remote)
	case remote.IsSSH():
		return Credentials{}, &inputs.InvalidError{Field: authField, Problem: "needs sshAuth, because the URL of the repository uses ssh"}
	case auth.PersonalAccessToken != nil:
		token, err := needed(ctx, values, authField+".accessToken", *auth.PersonalAccessToken)
		return userAndPassword(cmp.Or(remote.User, tokenUser), strings.TrimSpace(token)), err
	case auth.BasicAuth != nil:
		user, err := values.Value(ctx, authField+".basicAuth.userName", auth.BasicAuth.UserName)
		if err != nil {
			return Credentials{}, err
		}
		password, err := needed(ctx, values, authField+".basicAuth.password", auth.BasicAuth.Password)
		// Azure DevOps accepts a token as password without a user, but source-controller
		// requires a user.
		return userAndPassword(cmp.Or(user, remote.User, tokenUser), password), err
	case auth.GitHubApp != nil:
		return fromApp(ctx, values, *auth.GitHubApp, remote)
	case auth.SSHAuth != nil:
		return Credentials{}, &inputs.InvalidError{Field: authField, Problem: fmt.Sprintf(
			"has an ssh key only, but the URL of the repository uses %s: use its ssh URL, or accessToken, basicAuth or githubApp", remote.Scheme)}
	}
	return Credentials{}, &inputs.InvalidError{Field: authField, Problem: "has no credentials: add sshAuth, accessToken, basicAuth or githubApp, or remove it"}
}

// needed reads a value that must not be empty. source-controller and git servers would
// report an empty one without saying where it comes from.
func needed(ctx context.Context, values Values, field string, ref v1.ResourceRef) (string, error) {
	value, err := values.Value(ctx, field, ref)
	if err == nil && strings.TrimSpace(value) == "" {
		return "", &inputs.UnusableError{Field: field, Problem: "the value is empty"}
	}
	return value, err
}

// fromKey reads an SSH key and finds the host keys for it.
func fromKey(ctx context.Context, values Values, auth v1.GitSSHAuth, remote Remote) (Credentials, error) {
	const field = authField + ".sshAuth"
	key, err := needed(ctx, values, field+".sshPrivateKey", auth.SSHPrivateKey)
	if err != nil {
		return Credentials{}, err
	}
	password := ""
	if auth.Password != nil {
		if password, err = values.Value(ctx, field+".password", *auth.Password); err != nil {
			return Credentials{}, err
		}
	}
	if auth.KnownHosts != nil {
		hosts, err := values.Value(ctx, field+".knownHosts", *auth.KnownHosts)
		return sshKey(key, password, hosts), err
	}
	where := field + ".knownHosts"
	if ref := auth.SSHPrivateKey.Secret; auth.SSHPrivateKey.Type == v1.ResourceRefSecret && ref != nil {
		data, err := values.Data(ctx, field+".sshPrivateKey", ref.Namespace, ref.Name)
		if err != nil {
			return Credentials{}, err
		}
		if hosts := data[keyKnownHosts]; len(hosts) > 0 {
			return sshKey(key, password, string(hosts)), nil
		}
		where += fmt.Sprintf(", or into the key %s of Secret %q", keyKnownHosts, ref.Name)
	}
	return withPublishedHosts(key, password, remote, field, where)
}

// withPublishedHosts uses the host keys that the server's operator publishes. A server
// whose keys nobody has vouched for is never connected to.
func withPublishedHosts(key, password string, remote Remote, field, where string) (Credentials, error) {
	hosts := publishedHosts(remote)
	if hosts == "" {
		return Credentials{}, &inputs.UnusableError{Field: field, Problem: fmt.Sprintf(
			"the host keys of %s are unknown, and source-controller only connects to known hosts: compare the output of "+
				"\"%s\" with the keys that the server's operator publishes, then put it into %s", remote.address(), keyScan(remote), where)}
	}
	return sshKey(key, password, hosts), nil
}

// fromApp reads the credentials of a GitHub App.
func fromApp(ctx context.Context, values Values, app v1.GitHubAppAuth, remote Remote) (Credentials, error) {
	data := map[string][]byte{}
	for _, part := range []struct {
		key, field string
		ref        v1.ResourceRef
	}{
		{secrets.KeyGitHubAppID, "appID", app.AppID},
		{secrets.KeyGitHubAppInstallationID, "installationID", app.InstallationID},
		{secrets.KeyGitHubAppPrivateKey, "privateKey", app.PrivateKey},
	} {
		value, err := needed(ctx, values, authField+".githubApp."+part.field, part.ref)
		if err != nil {
			return Credentials{}, err
		}
		data[part.key] = []byte(strings.TrimSpace(value))
	}
	if api := gitHubAPI(remote); api != "" {
		data[secrets.KeyGitHubAppBaseURL] = []byte(api)
	}
	return Credentials{Provider: gitHubProvider, Data: data}, nil
}

// gitHubAPI returns the API URL of the repository's GitHub server, or "" for github.com,
// which source-controller knows.
func gitHubAPI(remote Remote) string {
	host := strings.ToLower(remote.Host)
	switch {
	case host == "github.com" || host == "www.github.com":
		return ""
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://api." + host // GitHub Enterprise Cloud with data residency
	}
	return fmt.Sprintf("%s://%s/api/v3", remote.Scheme, remote.address()) // GitHub Enterprise Server
}

// fromSecret uses the first credentials in the gitAuthSecret that fit the URL.
func fromSecret(ctx context.Context, values Values, name string, remote Remote) (Credentials, error) {
	data, err := values.Data(ctx, authSecretField, "", name)
	if err != nil {
		return Credentials{}, err
	}
	text := func(key string) string { return string(data[key]) }
	switch {
	case remote.IsSSH() && text(keySSHPrivateKey) != "":
		if hosts := text(keyKnownHosts); hosts != "" {
			return sshKey(text(keySSHPrivateKey), text(keyPassword), hosts), nil
		}
		return withPublishedHosts(text(keySSHPrivateKey), text(keyPassword), remote, authSecretField,
			fmt.Sprintf("the key %s of Secret %q", keyKnownHosts, name))
	case remote.IsSSH():
		return Credentials{}, &inputs.UnusableError{Field: authSecretField, Problem: fmt.Sprintf(
			"Secret %q needs the key %s, because the URL of the repository uses ssh", name, keySSHPrivateKey)}
	case text(keyAccessToken) != "":
		return userAndPassword(cmp.Or(remote.User, tokenUser), strings.TrimSpace(text(keyAccessToken))), nil
	case text(keyUserName) != "" && text(keyPassword) != "":
		return userAndPassword(text(keyUserName), text(keyPassword)), nil
	}
	return Credentials{}, &inputs.UnusableError{Field: authSecretField, Problem: fmt.Sprintf(
		"Secret %q needs the key %s, or %s and %s, because the URL of the repository uses %s", name, keyAccessToken, keyUserName, keyPassword, remote.Scheme)}
}

func sshKey(key, password, knownHosts string) Credentials {
	data := map[string][]byte{secrets.KeySSHPrivateKey: []byte(key), keyKnownHosts: []byte(knownHosts)}
	if password != "" {
		data[secrets.KeyPassword] = []byte(password)
	}
	return Credentials{Data: data}
}

func userAndPassword(user, password string) Credentials {
	return Credentials{Data: map[string][]byte{secrets.KeyUsername: []byte(user), secrets.KeyPassword: []byte(password)}}
}

// Mask hides the credentials in a text from source-controller.
func (c Credentials) Mask(text string) string {
	var values []string
	for _, key := range []string{secrets.KeyUsername, secrets.KeyPassword, secrets.KeySSHPrivateKey, secrets.KeyGitHubAppPrivateKey} {
		if IsSecret(c.Data, key) {
			values = append(values, string(c.Data[key]))
		}
	}
	return mask.Text(text, values)
}

// IsSecret reports whether a value of a git Secret is one to mask. A user such as "git" is
// none, and a word in every error; without a password the user is a token.
func IsSecret(data map[string][]byte, key string) bool {
	return key != secrets.KeyUsername || len(data[secrets.KeyPassword]) == 0
}
