// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// certificates returns the bundle of root certificates at Debian's path. It has the roots
// that Mozilla trusts, from a Go module: go.sum vouches for it, and it is as recent as
// the module.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		// A root that is trusted only for what it signed before a date is included, as on
		// all systems whose bundle cannot express that: without it, trusted servers would
		// be refused.
		_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer never fails
	}
	return b.Bytes()
}
