// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// How `cosign sign --key` stores a signature: as an image of one layer, the payload, with the signature as annotation, under
// a tag that is made of the digest of what is signed.
const (
	signedPayloadMediaType types.MediaType = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation    string          = "dev.cosignproject.cosign/signature"
)

// SigningKey is a key pair like that of `cosign generate-key-pair`.
type SigningKey struct {
	private *ecdsa.PrivateKey
}

// NewSigningKey generates a SigningKey.
func NewSigningKey() (*SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a signing key: %w", err)
	}
	return &SigningKey{private}, nil
}

// PublicKey returns the content of cosign.pub.
func (k *SigningKey) PublicKey() (string, error) {
	der, err := x509.MarshalPKIXPublicKey(&k.private.PublicKey)
	if err != nil {
		return "", fmt.Errorf("writing a public key: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

// Sign signs the artifact with the digest that PushArtifact returned, in a repository such as "team/app".
func (r *OCIRegistry) Sign(ctx context.Context, repository, digest string, key *SigningKey) error {
	tag, err := name.NewTag(r.host+"/"+repository+":"+strings.Replace(digest, ":", "-", 1)+".sig", name.Insecure)
	if err != nil {
		return fmt.Errorf("signing %s of %s: %w", digest, repository, err)
	}
	payload, err := json.Marshal(map[string]any{
		"critical": map[string]any{
			"identity": map[string]string{"docker-reference": r.host + "/" + repository},
			"image":    map[string]string{"docker-manifest-digest": digest},
			"type":     "cosign container image signature",
		},
		"optional": nil,
	})
	if err != nil {
		return fmt.Errorf("signing %s of %s: %w", digest, repository, err)
	}
	sum := sha256.Sum256(payload)
	signature, err := ecdsa.SignASN1(rand.Reader, key.private, sum[:])
	if err != nil {
		return fmt.Errorf("signing %s of %s: %w", digest, repository, err)
	}
	image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:       static.NewLayer(payload, signedPayloadMediaType),
		Annotations: map[string]string{signatureAnnotation: base64.StdEncoding.EncodeToString(signature)},
	})
	if err != nil {
		return fmt.Errorf("signing %s of %s: %w", digest, repository, err)
	}
	if err := remote.Write(tag, image, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("pushing the signature of %s of %s: %w", digest, repository, err)
	}
	return nil
}
