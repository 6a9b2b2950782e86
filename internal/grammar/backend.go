// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// IsDIY tells the backends that are a file or object store, which Pulumi calls
// do-it-yourself, from Pulumi Cloud.
func IsDIY(backend string) bool {
	switch Scheme(backend) {
	case "file", "s3", "gs", "azblob", "postgres":
		return true
	}
	return false
}

// Scheme is that of a URL, and "" for what is no URL: all of that may be secret.
func Scheme(backend string) string {
	before, _, isURL := strings.Cut(backend, "://")
	if !isURL {
		return ""
	}
	return before
}

// PublicBackend is the part of a backend's URL that may be shown and kept: without
// user and password, query and fragment, and without slashes at its end. Of what
// is no URL only the scheme is left.
func PublicBackend(backend string) string {
	if public, ok := mask.PublicURL(backend); ok {
		return public
	}
	return shownScheme(backend) + "://"
}

// HasEnvironments tells whether the backend has environments of Pulumi ESC.
func HasEnvironments(backend string) bool { return !IsDIY(backend) }

// CheckBackend refuses a URL that Pulumi would take for one of Pulumi Cloud, and ask
// for its access token. The URL may be secret, and is not told.
func CheckBackend(backend string) error {
	if _, err := url.Parse(backend); err != nil {
		return errors.New("cannot be read as a URL: write what is special in a user, a password or a path as %XX, such as %25 for a percent sign")
	}
	if known := Scheme(backend); IsDIY(backend) || known == "https" || known == "http" {
		return nil
	}
	return errors.New("is no URL of a backend that Pulumi has: it begins with https://, http://, file://, s3://, gs://, azblob:// or postgres://")
}

// GivenSecrets are the secrets of the spec. Where one of them says which the backend
// is, not even the part of it that is told of others is told.
func GivenSecrets(r run.Run) []string {
	secret := append(slices.Collect(maps.Values(r.Secrets)), r.Masks...)
	masked, known := mask.New(secret).Apply(r.Backend), Scheme(r.Backend)
	if masked == r.Backend || (known != "" && strings.HasPrefix(masked, known+"://")) {
		return secret // at most a part of it is secret, such as a password
	}
	return append(secret, PublicBackend(r.Backend))
}

// hiddenBackend is told in place of a backend that a Secret names: a digest, which
// tells it from another. The names of buckets are easily guessed, and those who may
// read Stacks but no Secrets must not find them by trying: so the digest has a key,
// as that of all inputs. A Secret that is made again gives another one.
func hiddenBackend(public, key string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(public)) //nolint:errcheck // A hash never fails.
	return fmt.Sprintf("%s://sha256-%x", shownScheme(public), mac.Sum(nil)[:8])
}

// shownScheme is the scheme of a backend that may be secret. A Secret may have
// anything in it by mistake, such as an access token: only a scheme that Pulumi
// knows is no part of that.
func shownScheme(backend string) string {
	if known := Scheme(backend); IsDIY(backend) || known == "https" || known == "http" {
		return known
	}
	return "hidden"
}

// BackendOf is what may be told of the backend of a run before it has begun: what
// the Result.Backend of it is, if the stack is there. A secret of the program hides no part
// of it: what is told must stay the same when the program changes.
func BackendOf(r run.Run) string {
	public := PublicBackend(r.Backend)
	if mask.New(GivenSecrets(r)).Apply(public) == public {
		return public
	}
	return hiddenBackend(public, r.BackendKey)
}

// IsBackendOf tells whether a backend that was told before, as BackendOf does, is that
// of the run, whether a secret names it now or did so then.
func IsBackendOf(r run.Run, told string) bool {
	public := PublicBackend(r.Backend)
	return told == public || told == hiddenBackend(public, r.BackendKey)
}
