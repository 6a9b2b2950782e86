// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	passphraseProvider = "passphrase"

	// saltVersion and saltProof are what Pulumi's passphrase provider puts around the
	// salt in encryptionsalt: v1:<salt>:<the text "pulumi", encrypted>.
	saltVersion = "v1"
	saltProof   = "pulumi"
	saltBytes   = 8
)

// addSecrets sets secret values. It encrypts them itself if a passphrase does that,
// which needs no process and no value on a command line. For any other provider it
// returns the secrets for the CLI to encrypt.
func addSecrets(
	ctx context.Context, settings *workspace.ProjectStack, file, project string, r run.Run,
) (map[string]string, error) {
	if len(r.Secrets) == 0 {
		return nil, nil
	}
	keys, err := secretKeys(project, r)
	if err != nil {
		return nil, err
	}
	if !usesPassphrase(settings, r.Backend) {
		return r.Secrets, nil
	}
	passphrase, err := passphraseOf(r.Env)
	if err != nil && (r.Exists || r.MustExist || r.NoCreate) && settings.SecretsProvider == "" && settings.EncryptionSalt == "" {
		return r.Secrets, nil // the state may name another provider, which the CLI finds there
	}
	if err != nil {
		return nil, err
	}
	crypter, err := crypterOf(ctx, settings, file, passphrase)
	if err != nil {
		return nil, err
	}
	for name, key := range keys {
		encrypted, err := crypter.EncryptValue(ctx, r.Secrets[name])
		if err != nil {
			return nil, fmt.Errorf("encrypting the secret config %q: %w", name, err)
		}
		settings.Config[key] = config.NewSecureValue(encrypted)
	}
	return nil, nil
}

// secretKeys parses the keys of the secrets.
func secretKeys(project string, r run.Run) (map[string]config.Key, error) {
	keys := make(map[string]config.Key, len(r.Secrets))
	for _, name := range slices.Sorted(maps.Keys(r.Secrets)) {
		key, err := configKey(project, name)
		if err != nil {
			return nil, err
		}
		keys[name] = key
	}
	return keys, nil
}

// usesPassphrase mirrors the CLI's choice of a secrets provider.
func usesPassphrase(settings *workspace.ProjectStack, backend string) bool {
	switch settings.SecretsProvider {
	case passphraseProvider:
		return true
	case "", "default":
		return settings.EncryptionSalt != "" || grammar.IsDIY(backend)
	}
	return false
}

// passphraseOf finds the passphrase where the CLI will. It ignores a file named by the
// environment: the caller has put its text in the variable.
func passphraseOf(env map[string]string) (string, error) {
	if passphrase, ok := env[grammar.PassphraseVariable]; ok {
		return passphrase, nil
	}
	return "", fmt.Errorf("secret config is encrypted with a passphrase on this backend: set %s in the environment variables "+
		"of the run, or name a secretsprovider in the stack settings of the program", grammar.PassphraseVariable)
}

// crypterOf returns the crypter for the encryptionsalt of the settings, or for a new
// one if there is none. A new one in each run does no harm: the state stores its own
// beside what it encrypted, the CLI decrypts with that, and it encrypts everything again
// in every operation anyway.
func crypterOf(
	ctx context.Context, settings *workspace.ProjectStack, file, passphrase string,
) (config.Crypter, error) {
	if settings.EncryptionSalt != "" {
		return openSalt(ctx, settings.EncryptionSalt, file, passphrase)
	}
	salt := make([]byte, saltBytes)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("drawing a salt: %w", err)
	}
	crypter := config.NewSymmetricCrypterFromPassphrase(passphrase, salt)
	proof, err := crypter.EncryptValue(ctx, saltProof)
	if err != nil {
		return nil, fmt.Errorf("making an encryptionsalt: %w", err)
	}
	settings.EncryptionSalt = strings.Join([]string{saltVersion, base64.StdEncoding.EncodeToString(salt), proof}, ":")
	return crypter, nil
}

// openSalt verifies that the passphrase is the one of the settings.
func openSalt(ctx context.Context, encryptionSalt, file, passphrase string) (config.Crypter, error) {
	parts := strings.SplitN(encryptionSalt, ":", 3)
	if len(parts) != 3 || parts[0] != saltVersion {
		return nil, fmt.Errorf("the encryptionsalt in %s is not one of Pulumi's", file)
	}
	salt, err := base64.StdEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, fmt.Errorf("the encryptionsalt in %s is not one of Pulumi's: %w", file, err)
	}
	crypter := config.NewSymmetricCrypterFromPassphrase(passphrase, salt)
	if proof, err := crypter.DecryptValue(ctx, parts[2]); err != nil || proof != saltProof {
		return nil, errors.New("incorrect passphrase: " + grammar.PassphraseVariable +
			" is not the passphrase that " + file + " was encrypted with")
	}
	return crypter, nil
}
