// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// GitSource takes the program directly from a git repository. The controller
// creates a Flux GitRepository for it, which the Stack owns and which has the
// name of the Stack: source-controller does all the work with git.
type GitSource struct {
	// ProjectRepo is the URL of the git repository that contains the program:
	// over https, http or ssh, or as <user>@<host>:<path>. A user and a
	// password in it are kept in a Secret. A user alone is treated as a token,
	// unless it is git or a part of the path. The controller creates a
	// GitRepository with the name of the Stack for it, so source-controller
	// must be installed. A branch is polled at the interval of the Stack, but
	// not while it is suspended. For more features, such as semver ranges and
	// signatures, use a GitRepository and fluxSource.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	ProjectRepo string `json:"projectRepo,omitempty"`

	// Branch of the repository whose latest commit is applied, as <branch> or
	// refs/heads/<branch>. Another name that begins with refs/ is used as it
	// is. With projectRepo either branch or commit is required.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`size(self) == 0 || !self.matches(r'^[-/]|^@$|[.]$|/$|//|[.][.]|@[{]|(^|/)[.]|[.]lock(/|$)|[[:cntrl:] ~^:?*\\[]')`,message="is not a valid name of a git branch: correct it"
	// +optional
	Branch string `json:"branch,omitempty"`

	// Commit of the repository to apply, as its full hash. With projectRepo
	// either branch or commit is required.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})?$')",message="must be the full hash of a commit, of 40 or 64 hexadecimal digits"
	// +optional
	Commit string `json:"commit,omitempty"`

	// RepoDir is the directory of the Pulumi program, the one that contains
	// Pulumi.yaml, relative to the root of the repository. It cannot point
	// outside the repository. Defaults to the root.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	RepoDir string `json:"repoDir,omitempty"`

	// Shallow is accepted and has no effect: source-controller never fetches
	// the history of a branch.
	// +optional
	Shallow bool `json:"shallow,omitempty"`

	// GitAuth are the credentials for the repository: over ssh sshAuth, over
	// https the first one given of accessToken, basicAuth and githubApp.
	// Credentials that do not match the URL are ignored. Defaults to the user
	// and the password, or the token, in projectRepo, and without those to
	// none, for a public repository.
	// +optional
	GitAuth *GitAuth `json:"gitAuth,omitempty"`

	// GitAuthSecret names a Secret in the namespace of the Stack with the
	// credentials for the repository. Over ssh these are sshPrivateKey, with
	// password if the key has one, and known_hosts as for gitAuth. Over https
	// they are accessToken, or else username and password. Ignored if gitAuth
	// is set. It is deprecated: use gitAuth.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	GitAuthSecret string `json:"gitAuthSecret,omitempty"`
}

// GitAuth are credentials for a git repository.
type GitAuth struct {
	// PersonalAccessToken for the repository over https. It is sent with the
	// user in projectRepo, or with git if that has none.
	// +optional
	PersonalAccessToken *ResourceRef `json:"accessToken,omitempty"`

	// SSHAuth is a key for the repository over ssh.
	// +optional
	SSHAuth *GitSSHAuth `json:"sshAuth,omitempty"`

	// BasicAuth is a user and a password for the repository over https.
	// +optional
	BasicAuth *GitBasicAuth `json:"basicAuth,omitempty"`

	// GitHubApp is a GitHub App that is installed for the repository, of GitHub
	// or of a GitHub Enterprise Server.
	// +optional
	GitHubApp *GitHubAppAuth `json:"githubApp,omitempty"`
}

// GitSSHAuth is a key for a git repository over ssh.
type GitSSHAuth struct {
	// SSHPrivateKey is the private key, in PEM format.
	// +required
	SSHPrivateKey ResourceRef `json:"sshPrivateKey"`

	// Password of the private key. Defaults to none.
	// +optional
	Password *ResourceRef `json:"password,omitempty"`

	// KnownHosts are the public keys of the server, in the known_hosts format
	// of OpenSSH. source-controller connects only to servers whose key it
	// knows. Defaults to the key known_hosts of the Secret that contains
	// sshPrivateKey, and without that to the keys that github.com, gitlab.com
	// and bitbucket.org publish. Any other server needs one of the first two.
	// +optional
	KnownHosts *ResourceRef `json:"knownHosts,omitempty"`
}

// GitBasicAuth is a user and a password for a git repository.
type GitBasicAuth struct {
	// UserName at the server.
	// +required
	UserName ResourceRef `json:"userName"`

	// Password of the user.
	// +required
	Password ResourceRef `json:"password"`
}

// GitHubAppAuth is a GitHub App that is installed for a repository.
type GitHubAppAuth struct {
	// AppID of the app.
	// +required
	AppID ResourceRef `json:"appID"`

	// InstallationID of the installation of the app.
	// +required
	InstallationID ResourceRef `json:"installationID"`

	// PrivateKey of the app, in PEM format.
	// +required
	PrivateKey ResourceRef `json:"privateKey"`
}
