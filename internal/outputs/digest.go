// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package outputs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// digestFormat is mixed into the digest. Changing it, or anything else about how a
// digest is made, has the outputs of every Stack that writes any read once.
const digestFormat = "outputs/1"

// Digest stands for what a Secret holds and what the spec asks of it, as
// hmac-sha256:<hex>. It is shown in the status, to people who may not read Secrets.
// The key is the UID of the Secret, which is random and is told to those only who
// may read the Secret, so that no value can be found by trying. A Secret that was
// deleted and made again has another digest.
func Digest(secret *corev1.Secret, spec v1.OutputsSecret) (string, error) {
	keys := slices.Compact(slices.Sorted(slices.Values(spec.Keys)))
	// JSON writes the keys of objects in order.
	text, err := json.Marshal([]any{
		digestFormat, orEmpty(secret.Data), append([]string{}, keys...), orEmpty(spec.Labels), orEmpty(spec.Annotations),
	})
	if err != nil {
		return "", fmt.Errorf("digest of the outputs: %w", err)
	}
	mac := hmac.New(sha256.New, []byte(secret.UID))
	mac.Write(text) //nolint:errcheck // A hash never fails.
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil)), nil
}

// Identity tells one Secret from another of the same name, and from none, which is
// empty. It is shown in the status, where the UID cannot be: that is the key of digests.
func Identity(secret *corev1.Secret) string {
	if secret == nil {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(secret.UID))
	mac.Write([]byte("identity")) //nolint:errcheck // A hash never fails.
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// orEmpty has nothing and no values be the same.
func orEmpty[V any](values map[string]V) map[string]V {
	if values == nil {
		return map[string]V{}
	}
	return values
}
