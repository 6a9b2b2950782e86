// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// certificates is the bundle that programs read from the place where Debian has
// it. It is what Mozilla trusts, from a Go module, so that go.sum vouches for it
// and it is as new as the last update of the module.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		// A root that is trusted only for what it signed before a date is taken in as
		// all systems do whose bundle cannot say so: to leave it out would refuse
		// servers that are trusted.
		_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
	}
	return b.Bytes()
}
