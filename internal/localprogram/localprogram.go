// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package localprogram is the contract between the flux plugin and the controller for
// previews of a local program: the ConfigMap that holds it, and the annotation that
// names it. Nothing here reads or writes the cluster or a file.
package localprogram

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

const (
	// ArchiveKey of binaryData holds the directory of a program as tar.gz, for a Stack
	// whose program comes from a source.
	ArchiveKey = "program.tar.gz"
	// ProgramKey of binaryData holds the field program of a Program as JSON, for a
	// Stack with spec.programRef.
	ProgramKey = "program.json"
	// MaxSize bounds either, in bytes. A ConfigMap holds 1 MiB, and so does the Secret
	// of a run that is a Job, which also holds the config and the environment.
	MaxSize = 768 << 10
)

// Reference names a local program. It has the digest so that only the program named by
// the requester is run, whoever else may write the ConfigMap.
type Reference struct {
	// ConfigMap is the name of one in the namespace of the Stack.
	ConfigMap string
	// Digest of the data in the key, as sha256:<checksum>.
	Digest string
}

// NewReference returns a reference to the data in a ConfigMap.
func NewReference(configMap string, data []byte) Reference {
	return Reference{ConfigMap: configMap, Digest: digest(data)}
}

// String is the value of the annotation.
func (r Reference) String() string { return r.ConfigMap + "@" + r.Digest }

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ParseReference parses the value of the annotation.
func ParseReference(value string) (Reference, error) {
	name, digest, _ := strings.Cut(value, "@")
	if name == "" || !digestPattern.MatchString(digest) {
		return Reference{}, fmt.Errorf("%q is not <name of a ConfigMap>@sha256:<checksum>", bounded.Text(value, maxShown))
	}
	return Reference{ConfigMap: name, Digest: digest}, nil
}

// Read returns the data in the key, if its digest matches the reference. A ConfigMap
// made by kubectl has text in its field data (texts), and everything else in binaryData
// (binary).
func (r Reference) Read(texts map[string]string, binary map[string][]byte, key string) ([]byte, error) {
	data, ok := binary[key]
	if text, isText := texts[key]; !ok && isText {
		data, ok = []byte(text), true
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("it has no key %s", key)
	case len(data) > MaxSize:
		return nil, fmt.Errorf("%s has %d bytes, the limit is %d", key, len(data), MaxSize)
	case digest(data) != r.Digest:
		return nil, fmt.Errorf("%s has the digest %s instead of %s: it was changed after the request", key, digest(data), r.Digest)
	}
	return data, nil
}

// Revision is reported in place of a source's revision.
func (r Reference) Revision() string { return "local@" + r.Digest }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// maxShown bounds a value in a message.
const maxShown = 100
