// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/runtime/acl"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

const passphraseFileVariable = "PULUMI_CONFIG_PASSPHRASE_FILE"

// takePassphrase replaces the variable that names a passphrase file with the passphrase
// itself. The file is one of the controller, whatever type of reference names it, so the
// rules of type FS apply. As in Pulumi, a passphrase given directly wins, and the file is
// not read.
func (r *resolver) takePassphrase() error {
	named := r.env[passphraseFileVariable]
	if _, given := r.env[grammar.PassphraseVariable]; given || named.text == "" {
		return nil
	}
	// No error shows the path, which may come from a Secret.
	switch {
	case r.opts.Controller == nil:
		return &ReadError{named.field, acl.AccessDeniedError(fmt.Sprintf(
			"%s names a file of the controller, which is not allowed: set %s from a Secret, or run the controller with --allow-controller-refs",
			passphraseFileVariable, grammar.PassphraseVariable))}
	case !filepath.IsAbs(named.text):
		return &UnusableError{named.field, "the path in " + passphraseFileVariable + " must be absolute, because the working directory of the controller may change"}
	}
	text, err := readFile(named.text)
	if err != nil {
		return &UnusableError{named.field, fmt.Sprintf("the file that %s names cannot be used: %s", passphraseFileVariable, err)}
	}
	delete(r.env, passphraseFileVariable)
	// Pulumi trims the content as well.
	return r.add(reference{field: named.field, name: grammar.PassphraseVariable}, value{text: strings.TrimSpace(text), hidden: true})
}
