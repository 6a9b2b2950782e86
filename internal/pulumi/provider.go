// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// defaultProvider selects the backend's own secrets provider.
const defaultProvider = "default"

// setProvider sets the run's secrets provider in the settings.
//
// That is all it takes to change the provider. The CLI reads a state with the provider
// named in the state and, with the first snapshot of any update, even one without
// changes, encrypts all secrets again with the provider of the settings. Each snapshot
// names its provider, so an interrupted update leaves a readable state. pulumi stack
// change-secrets-provider would be one more process that writes the state, outside the
// lock and the recovery of an update.
func setProvider(ctx context.Context, settings *workspace.ProjectStack, file string, r run.Run) error {
	wanted := r.SecretsProvider
	if wanted == defaultProvider && grammar.IsDIY(r.Backend) {
		wanted = passphraseProvider
	}
	if !isProvider(settings, wanted) {
		if settings.Config.HasSecureValue() {
			return fmt.Errorf("%s of the program has values that are encrypted with another secrets provider than spec.secretsProvider names: "+
				"run pulumi stack change-secrets-provider where the program is kept, or remove spec.secretsProvider", file)
		}
		// They belong to the other provider.
		settings.EncryptedKey, settings.EncryptionSalt = "", ""
	}
	settings.SecretsProvider = wanted
	if wanted != passphraseProvider || settings.EncryptionSalt != "" {
		return nil
	}
	// Without a salt the CLI would keep the state's provider.
	passphrase, err := passphraseOf(r.Env)
	if err != nil {
		return errors.New("spec.secretsProvider is " + r.SecretsProvider + ": " + err.Error())
	}
	_, err = crypterOf(ctx, settings, file, passphrase)
	return err
}

// isProvider reports whether the settings already use the provider.
func isProvider(settings *workspace.ProjectStack, wanted string) bool {
	named := settings.SecretsProvider
	if named == "" || named == defaultProvider {
		switch {
		case settings.EncryptionSalt != "":
			named = passphraseProvider
		case settings.EncryptedKey == "":
			named = defaultProvider
		}
	}
	return named == wanted
}

// usesDefaultOfCloud reports whether the stack is to use Pulumi Cloud's secrets provider,
// which no setting names.
func usesDefaultOfCloud(r run.Run) bool {
	return r.SecretsProvider == defaultProvider && !grammar.IsDIY(r.Backend) && r.RunsProgram()
}
