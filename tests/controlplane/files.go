// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// serverFiles is what the API server reads when it starts.
type serverFiles struct {
	certificate     []byte // PEM, for clients to trust
	certificatePath string
	// keyPath is the key of the certificate. It also signs the tokens of service
	// accounts.
	keyPath    string
	tokensPath string
}

// loopback is the address on which the API servers of this package listen.
const loopback = "127.0.0.1"

// WriteServerFiles writes apiserver.crt, apiserver.key and tokens.csv to dir, for an API
// server that another package runs under these names and addresses. It returns the
// certificate for its clients to trust.
func WriteServerFiles(dir, adminToken string, hosts ...string) ([]byte, error) {
	files, err := writeServerFiles(dir, adminToken, hosts...)
	return files.certificate, err
}

// writeServerFiles creates a key and a certificate for the names and addresses. The key
// is ECDSA, because creating an RSA key takes a good part of a second.
func writeServerFiles(dir, adminToken string, hosts ...string) (serverFiles, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return serverFiles{}, fmt.Errorf("making the API server's key: %w", err)
	}
	certificate, err := selfSigned(key, hosts)
	if err != nil {
		return serverFiles{}, fmt.Errorf("making the API server's certificate: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return serverFiles{}, fmt.Errorf("encoding the API server's key: %w", err)
	}
	files := serverFiles{
		certificate:     certificate,
		certificatePath: filepath.Join(dir, "apiserver.crt"),
		keyPath:         filepath.Join(dir, "apiserver.key"),
		tokensPath:      filepath.Join(dir, "tokens.csv"),
	}
	for path, content := range map[string][]byte{
		files.certificatePath: certificate,
		files.keyPath:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		files.tokensPath:      fmt.Appendf(nil, "%s,%s,%s,\"system:masters\"\n", adminToken, adminUser, adminUser),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return serverFiles{}, fmt.Errorf("writing what the API server reads: %w", err)
		}
	}
	return files, nil
}

// selfSigned returns a certificate for the names and addresses, valid for a day, in PEM.
func selfSigned(key *ecdsa.PrivateKey, hosts []string) ([]byte, error) {
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "kube-apiserver"},
		NotBefore:             now.Add(-time.Hour), // in case the clock is set back
		NotAfter:              now.Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true, // clients trust it as its own root
	}
	for _, host := range hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
