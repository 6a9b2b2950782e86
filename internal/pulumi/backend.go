// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

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
func HasEnvironments(backend string) bool { return !isDIY(backend) }

// CheckBackend refuses a URL that Pulumi would take for one of Pulumi Cloud, and ask
// for its access token. The URL may be secret, and is not told.
func CheckBackend(backend string) error {
	if known := scheme(backend); isDIY(backend) || known == "https" || known == "http" {
		return nil
	}
	return errors.New("is no URL of a backend that Pulumi has: it begins with https://, http://, file://, s3://, gs://, azblob:// or postgres://")
}

// maskerOf makes the masker of a run: of what it was given as a secret, and of what
// its program and the URL of its backend have in them.
func maskerOf(r run.Run) *mask.Masker {
	return mask.Filtered(slices.Collect(maps.Values(r.Secrets)),
		slices.Concat(givenSecrets(r), mask.InProgram(r.Program.YAML), mask.InURL(r.Backend)))
}

// givenSecrets are the secrets of the spec. Where one of them says which the backend
// is, not even the part of it that is told of others is told.
func givenSecrets(r run.Run) []string {
	secret := append(slices.Collect(maps.Values(r.Secrets)), r.Masks...)
	masked, known := mask.New(secret).Apply(r.Backend), scheme(r.Backend)
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
	if known := scheme(backend); isDIY(backend) || known == "https" || known == "http" {
		return known
	}
	return "hidden"
}

// backend is what is told of the backend of this run.
func (s *session) backend() string { return BackendOf(s.run) }

// BackendOf is what may be told of the backend of a run before it has begun: what
// its Result.Backend is, if the stack is there. A secret of the program hides no part
// of it: what is told must stay the same when the program changes.
func BackendOf(r run.Run) string {
	public := PublicBackend(r.Backend)
	if mask.New(givenSecrets(r)).Apply(public) == public {
		return public
	}
	return hiddenBackend(public, r.BackendKey)
}

// isElsewhere says that the stack was last seen in another backend.
func (s *session) isElsewhere() bool {
	known, public := s.run.KnownBackend, PublicBackend(s.run.Backend)
	return known != "" && known != public && known != hiddenBackend(public, s.run.BackendKey)
}

// missing tells what is wrong where the backend does not have the stack, nil where
// that may be. A stack that was seen in another backend is still there, with all
// that it manages; one that was updated before has not gone by itself.
func (s *session) missing() error {
	switch {
	case s.isElsewhere():
		return fmt.Errorf("the stack %s is not in the backend %s: it was last seen in %s, and all that it manages would be left behind: "+
			"set spec.backend, or the variable PULUMI_BACKEND_URL, back to that, or bring the state here with pulumi stack export and import",
			s.stack, s.backend(), s.run.KnownBackend)
	case s.run.MustExist:
		return fmt.Errorf("the stack %s is not in the backend %s, and the status says that another controller has updated it, or begun to: "+
			"set spec.backend, or the variable PULUMI_BACKEND_URL, to the backend that has its state; "+
			"where it was never made, make it with pulumi stack init; "+
			"to let this Stack go without destroying anything, set spec.destroyOnFinalize to false and delete it", s.stack, s.backend())
	case s.run.Operation == run.Destroy && s.run.Known.Name != "":
		// A volume that is not mounted is an empty directory, and no destroy.
		return fmt.Errorf("nothing was destroyed: the stack %s has been updated before, and is not in the backend %s any more: "+
			"restore its state, or set the backend that has it; "+
			"to let this Stack go without destroying anything, set spec.destroyOnFinalize to false", s.stack, s.backend())
	case s.run.Operation == run.Destroy, s.run.MayBeGone:
		return nil
	case s.run.NoCreate && s.run.Operation == run.Update:
		return fmt.Errorf("the stack %s is not in the backend %s, and spec.useLocalStackOnly has it never made: "+
			"make it with pulumi stack init, set the backend that has it, or remove spec.useLocalStackOnly", s.stack, s.backend())
	case s.run.Known.Name != "":
		// To make it anew would be to make everything that it manages a second time.
		return fmt.Errorf("the stack %s has been updated before, and is not in the backend any more: "+
			"set the backend, or restore the state, that it was updated in; if it was removed on purpose, delete this Stack and make another", s.stack)
	}
	return nil
}
