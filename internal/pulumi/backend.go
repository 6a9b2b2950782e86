// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maskerOf returns the masker of a run, for the secrets it was given and those in its
// program and the URL of its backend.
func maskerOf(r run.Run) *mask.Masker {
	var config []string
	for _, secret := range r.Secrets {
		config = append(config, secret)
		if written := asText(secret); written != secret {
			config = append(config, written) // Pulumi has one of the two
		}
	}
	return mask.Filtered(config, slices.Concat(grammar.GivenSecrets(r), mask.InProgram(r.Program.YAML), mask.InURL(r.Backend)))
}

// backend is the run's backend, as it may be shown.
func (s *session) backend() string { return grammar.BackendOf(s.run) }

// isElsewhere reports whether the stack was certainly last seen in another backend.
func (s *session) isElsewhere() bool {
	known := s.run.KnownBackend
	return known != "" && grammar.IsOtherBackend(s.run, known)
}

// elsewhereText names the backend that has the stack, for a run that did not get as far
// as looking for it: the backend now set may be a mistake.
func (s *session) elsewhereText() string {
	if !s.isElsewhere() || s.stackFound || s.stackMissing || s.installing {
		return ""
	}
	return fmt.Sprintf(" (the stack was last seen in another backend, %s)", s.run.KnownBackend)
}

// missing is the error if the backend does not have the stack, nil if that is fine. A
// stack seen in another backend is still there, with everything it manages; one that
// was updated before has not gone by itself.
func (s *session) missing() error {
	switch {
	case s.destroys() && s.reportedFound.Emptied:
		return nil // someone else has removed it since
	case s.isElsewhere():
		return fmt.Errorf("the stack %s is not in the backend %s: it was last seen in %s, and everything that it manages would be left behind: "+
			"set spec.backend, or the variable PULUMI_BACKEND_URL, back to that, or bring the state here with pulumi stack export and import; "+
			"to delete this Stack and keep its resources, set %s and delete it",
			s.stack, s.backend(), s.run.KnownBackend, s.withoutDestroy())
	case s.run.MustExist:
		return fmt.Errorf("the stack %s is not in the backend %s, and the status says that another controller has updated it, or has started an update: "+
			"set spec.backend, or the variable PULUMI_BACKEND_URL, to the backend that has its state; "+
			"if it was never created, create it with pulumi stack init; "+
			"to delete this Stack and keep its resources, set %s and delete it", s.stack, s.backend(), s.withoutDestroy())
	case s.destroys() && s.run.Known.Name != "":
		// A volume that is not mounted looks like an empty directory. Nothing was
		// destroyed.
		return fmt.Errorf("nothing was destroyed: the stack %s has been updated before, and is no longer in the backend %s: "+
			"restore its state, or set the backend that has it; "+
			"to delete this Stack and keep its resources, set spec.destroyOnFinalize to false", s.stack, s.backend())
	case s.destroys(), s.emptied:
		return nil
	case s.run.NoCreate && !isPreview(s.run.Operation) && applies(s.run):
		return fmt.Errorf("the stack %s is not in the backend %s, and spec.useLocalStackOnly forbids creating it: "+
			"create it with pulumi stack init, set the backend that has it, or remove spec.useLocalStackOnly", s.stack, s.backend())
	case s.run.Known.Name != "":
		// Creating it again would create everything it manages a second time.
		return fmt.Errorf("the stack %s has been updated before, and is no longer in the backend: "+
			"set the backend, or restore the state, that it was updated in; if it was removed on purpose, "+
			"set %s, delete this Stack and create another", s.stack, s.withoutDestroy())
	}
	return nil
}

// withoutDestroy is the setting with which a Stack is deleted and its resources stay: one with an interrupted run is
// recovered first, whether or not it is to be destroyed.
func (s *session) withoutDestroy() string {
	if len(s.run.Interrupted) > 0 {
		return "spec.suspend to true"
	}
	return "spec.destroyOnFinalize to false"
}
