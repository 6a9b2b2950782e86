// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/types"
)

// digestFormat is mixed into the digest of the values. Changing it, or anything else
// about how the digest is made, changes the digest of every Stack and so triggers a run
// of every Stack.
const digestFormat = "inputs/1"

// value is a resolved value and its origin.
type value struct {
	text string
	// secret is the UID of the Secret that the value was read from, "" for others.
	secret types.UID
	// controller names what the value was read from in the controller, "" for others.
	controller string
	// hidden says that the value must never be shown. field is the spec field that asks
	// for it. Neither is part of the digest.
	hidden bool
	field  string
}

// mark stands for the value in the digest, which anyone who may read Stacks can see in
// the status.
//
// A plain hash of a short secret could be brute-forced, so the value of a Secret goes in
// as an HMAC keyed with the UID of the Secret. The UID is random (122 bits) and visible
// only to those who may read the Secret. The price: a Secret that is deleted and created
// again, or another Secret with the same value, counts as a change. A value written in
// the spec is public to every reader of the Stack anyway.
//
// A value of the controller itself has no such key. A private random key, drawn at
// startup, would change with every restart and rerun every such Stack. Anything stable,
// such as the UID of the service account or the Stack, is visible to people who may not
// see the value. So the mark is where the value is read from: a new value triggers no
// run, and the next run picks it up.
func (v value) mark() string {
	if v.controller != "" {
		return "controller:" + v.controller
	}
	if v.secret == "" {
		return "literal:" + v.text
	}
	mac := hmac.New(sha256.New, []byte(v.secret))
	mac.Write([]byte(v.text)) //nolint:errcheck // A hash never fails.
	return "hmac:" + hex.EncodeToString(mac.Sum(nil))
}

// digestOf returns the digest of resolved values as sha256:<hex>. It hashes JSON, which
// is unambiguous and has its object keys sorted. The config must be canonical.
func digestOf(env map[string]value, config map[string]json.RawMessage, secrets map[string]value) (string, error) {
	text, err := json.Marshal([]any{digestFormat, marks(env), config, marks(secrets)})
	if err != nil {
		return "", fmt.Errorf("digest of the inputs: %w", err)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// marks returns the marks of the values. It is never nil, so that a nil map and an empty
// one have the same digest.
func marks(values map[string]value) map[string]string {
	out := make(map[string]string, len(values))
	for name, v := range values {
		out[name] = v.mark()
	}
	return out
}

// canonical returns a JSON value without white space and with sorted object keys. Numbers
// stay as written.
func canonical(raw []byte) (json.RawMessage, error) {
	if len(raw) == 0 {
		// The API machinery decodes null to no bytes.
		return json.RawMessage("null"), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return json.Marshal(v)
}
