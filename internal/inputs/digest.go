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

// digestFormat is mixed into the digest of the values. Changing it, or anything
// else about how a digest is made, gives every Stack another digest, and so
// causes one run of every Stack.
const digestFormat = "inputs/1"

// value is a resolved value, and where it came from.
type value struct {
	text string
	// secret is the UID of the Secret the value was read from. Empty for one
	// that is written in the spec.
	secret types.UID
	// controller names what of the controller the value was read from. Empty for
	// one that comes from elsewhere.
	controller string
	// hidden says that nothing may show the value, and field is the one of the spec
	// that asks for it. Neither is part of a digest.
	hidden bool
	field  string
}

// mark stands for the value in a digest.
//
// The digest is shown in the status, to people who may read Stacks but not
// Secrets. A plain hash of a short secret could be found by trying: so the value
// of a Secret goes in as an HMAC with the UID of the Secret as its key. The UID
// is random (122 bits), and is told to those only who may read the Secret. The
// price is that a Secret which is deleted and made again, or another Secret with
// the same value, counts as a change. A value that is written in the spec is
// there for every reader of the Stack already.
//
// A value of the controller itself has no such key. What is random and private
// there, as a key drawn at the start, is another one after each restart, and would
// have every such Stack run again; what stays, as the UID of its service account or
// of the Stack, is told to people who may not see the value. So the mark is where
// the value is read, and not the value: a new one starts no run, and is what the
// next run gets.
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

// digestOf returns the digest of resolved values as sha256:<hex>. It is that of
// a JSON text, so that no two sets of values can look the same; its objects are
// written in the order of their keys. The config must be canonical.
func digestOf(env map[string]value, config map[string]json.RawMessage, secrets map[string]value) (string, error) {
	text, err := json.Marshal([]any{digestFormat, marks(env), config, marks(secrets)})
	if err != nil {
		return "", fmt.Errorf("digest of the inputs: %w", err)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// marks returns the marks of the values. It is never nil: no values and a nil
// map of them are the same.
func marks(values map[string]value) map[string]string {
	out := make(map[string]string, len(values))
	for name, v := range values {
		out[name] = v.mark()
	}
	return out
}

// canonical returns a JSON value without white space and with the keys of its
// objects in order. Numbers stay as they are written.
func canonical(raw []byte) (json.RawMessage, error) {
	if len(raw) == 0 {
		// The API machinery turns null into nothing.
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
