// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// IsDIY reports whether a backend is a file or object store, which Pulumi calls
// do-it-yourself, rather than Pulumi Cloud.
func IsDIY(backend string) bool {
	switch Scheme(backend) {
	case "file", "s3", "gs", "azblob", "postgres":
		return true
	}
	return false
}

// Scheme returns the scheme of a URL. It returns "" for anything else, all of which may
// be secret.
func Scheme(backend string) string {
	before, _, isURL := strings.Cut(backend, "://")
	if !isURL {
		return ""
	}
	return before
}

// PublicBackend returns the part of a backend URL that may be shown and stored: without
// user, password, query, fragment and trailing slashes. If the text is not a URL, only
// the scheme is left.
func PublicBackend(backend string) string {
	if public, ok := mask.PublicURL(backend); ok {
		return public
	}
	return shownScheme(backend) + "://"
}

// ShownBackend returns what a person may see who can read the Stack that names the backend:
// PublicBackend, and the settings in the query.
func ShownBackend(backend string) string {
	if shown, ok := mask.ShownURL(backend); ok {
		return shown
	}
	return PublicBackend(backend)
}

// HasEnvironments reports whether the backend supports Pulumi ESC environments.
func HasEnvironments(backend string) bool { return !IsDIY(backend) }

// CheckBackend refuses a URL that Pulumi would take for Pulumi Cloud's, asking for its
// access token, and a directory that goes with the run. The URL may be secret, so the
// error does not contain it.
func CheckBackend(backend string) error {
	if _, err := url.Parse(backend); err != nil {
		return errors.New("is not a valid URL: encode special characters of a user, a password or a path as %XX, such as %25 for a percent sign")
	}
	known := Scheme(backend)
	switch {
	case known == "file" && !strings.HasPrefix(backend, "file:///"):
		// Pulumi has them start in its working directory, which is the run's own, or in the
		// home: the run would succeed, and the next one find no state.
		return errors.New("is a relative path of a directory, which would be deleted with the run: use file:///<directory>")
	case known == "file" && strings.Contains(backend, "#"):
		return errors.New("has a fragment, which would hide the settings that a run appends: encode a # in a path as %23")
	case IsDIY(backend) || known == "https" || known == "http":
		return nil
	}
	return errors.New("is not the URL of a Pulumi backend, which starts with https://, http://, file://, s3://, gs://, azblob:// or postgres://")
}

// GivenSecrets returns the secrets in the spec. If the backend itself is one of them,
// they include even its public part.
func GivenSecrets(r run.Run) []string {
	secret := append(slices.Collect(maps.Values(r.Secrets)), r.Masks...)
	masked, known := mask.New(secret).Apply(r.Backend), Scheme(r.Backend)
	if masked == r.Backend || (known != "" && strings.HasPrefix(masked, known+"://")) {
		return secret // at most a part of it is secret, such as a password
	}
	return append(secret, PublicBackend(r.Backend))
}

// hiddenBackend stands for a backend named by a Secret. Its digest distinguishes it from
// others. Bucket names are easy to guess, and people who may read Stacks but not Secrets
// must not be able to brute-force them, so the digest is keyed like the one of the
// inputs. A recreated Secret gives a different one, which its second part tells.
func hiddenBackend(public, key string) string {
	return fmt.Sprintf("%s%s%s-%s", shownScheme(public), hiddenSign, keyed(key, public, 8), signOf(key))
}

// hiddenSign is between the scheme and the digest of a hidden backend.
const hiddenSign = "://sha256-"

// signOf distinguishes keys.
func signOf(key string) string { return keyed(key, "", 4) }

// keyed returns the first bytes of the keyed digest of a text.
func keyed(key, text string, size int) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text)) //nolint:errcheck // A hash never fails.
	return hex.EncodeToString(mac.Sum(nil)[:size])
}

// shownScheme returns the scheme of a backend that may be secret. A Secret may contain
// anything by mistake, such as an access token, so only schemes that Pulumi knows are
// shown.
func shownScheme(backend string) string {
	if known := Scheme(backend); IsDIY(backend) || known == "https" || known == "http" {
		return known
	}
	return "hidden"
}

// BackendOf returns what may be shown of a run's backend before the run starts. It equals
// Result.Backend if the stack exists. The secrets of the program hide no part of it, so
// that it does not change with the program.
func BackendOf(r run.Run) string {
	public := PublicBackend(r.Backend)
	if mask.New(GivenSecrets(r)).Apply(public) == public {
		return public
	}
	return hiddenBackend(public, r.BackendKey)
}

// IsHidden reports whether a result of BackendOf does not name the backend.
func IsHidden(recorded string) bool { return strings.Contains(recorded, hiddenSign) }

// IsOtherBackend reports whether an earlier result of BackendOf is certainly for another
// backend than that of the run, whether or not a Secret names the backend now or did then.
// It cannot be known if another Secret names it now, or the same that was made again. If none
// does, it counts as another one: the Secret can name it again.
func IsOtherBackend(r run.Run, recorded string) bool {
	public := PublicBackend(r.Backend)
	hidden, sign := hiddenBackend(public, r.BackendKey), "-"+signOf(r.BackendKey)
	if recorded == public || recorded == hidden || recorded == strings.TrimSuffix(hidden, sign) { // as earlier builds wrote it
		return false
	}
	_, digest, isHidden := strings.Cut(recorded, hiddenSign)
	return !isHidden || r.BackendKey == "" || strings.HasSuffix(digest, sign)
}
