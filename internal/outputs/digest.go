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

// digestFormat is mixed into the digest. Changing it, or anything else about how the
// digest is made, makes every Stack that writes outputs read them once more.
const digestFormat = "outputs/1"

// Digest stands for the contents of a Secret and what the spec asks of it, as
// hmac-sha256:<hex>. The status shows it to people who may not read Secrets, so it is
// keyed with the UID of the Secret, which is random and visible only to those who may
// read the Secret: no value can be brute-forced. A Secret that is deleted and created
// again has a different digest.
func Digest(secret *corev1.Secret, spec v1.OutputsSecret) (string, error) {
	keys := slices.Compact(slices.Sorted(slices.Values(spec.Keys)))
	// JSON sorts the keys of objects.
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

// Identity distinguishes a Secret from others of the same name, and from none, for which
// it is "". The status cannot show the UID instead: that is the key of the digests.
func Identity(secret *corev1.Secret) string {
	if secret == nil {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(secret.UID))
	mac.Write([]byte("identity")) //nolint:errcheck // A hash never fails.
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// orEmpty makes nil and empty maps equal.
func orEmpty[V any](values map[string]V) map[string]V {
	if values == nil {
		return map[string]V{}
	}
	return values
}

// IsLabelled reports whether a Secret has the labels and annotations that the spec asks for.
// Additional ones do no harm.
func IsLabelled(secret *corev1.Secret, spec v1.OutputsSecret) bool {
	return contains(secret.Labels, spec.Labels) && contains(secret.Annotations, spec.Annotations)
}

func contains(all, some map[string]string) bool {
	for name, value := range some {
		if has, ok := all[name]; !ok || has != value {
			return false
		}
	}
	return true
}
