// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// proxy connects clients that ask for a known host, on port 443, to the server here.
type proxy struct {
	known       map[string]http.Handler
	certificate string
	front       *http.Server
	listener    net.Listener
	back        *http.Server
	behind      net.Listener
}

// certificateLife is longer than any test.
const certificateLife = 24 * time.Hour

func startProxy(dir string, known map[string]http.Handler) (*proxy, error) {
	p := &proxy{known: known, certificate: filepath.Join(dir, "clouds.pem")}
	pair, err := p.writeCertificate()
	if err != nil {
		return nil, fmt.Errorf("making a certificate for the stand-ins of clouds: %w", err)
	}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if p.behind, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(err, p.listener.Close())
	}
	p.front = &http.Server{Handler: http.HandlerFunc(p.connect), ReadHeaderTimeout: time.Minute}
	p.back = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = p.front.Serve(p.listener) }()
	go func() {
		_ = p.back.Serve(tls.NewListener(p.behind, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}))
	}()
	return p, nil
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

func (p *proxy) close() error { return errors.Join(p.front.Close(), p.back.Close()) }

// connect refuses all hosts but those that are stood in for: nothing leaves this machine.
func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	if r.Method != http.MethodConnect || p.known[host] == nil {
		http.Error(w, "there is no stand-in for "+r.Host, http.StatusForbidden)
		return
	}
	server, err := net.Dial("tcp", p.behind.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	go copyAndClose(server, client)
	go copyAndClose(client, server)
}

func copyAndClose(to io.WriteCloser, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	if service := p.known[r.Host]; service != nil {
		service.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// writeCertificate makes a certificate for the hosts, and writes it to where clients look for it.
func (p *proxy) writeCertificate() (tls.Certificate, error) {
	pair, text, err := selfSigned(slices.Collect(maps.Keys(p.known)))
	if err != nil {
		return tls.Certificate{}, err
	}
	return pair, os.WriteFile(p.certificate, text, 0o644)
}

// selfSigned makes a certificate for the hosts and the loopback address, which signs itself.
func selfSigned(hosts []string) (pair tls.Certificate, text []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stand-ins of clouds"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    hosts, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, text, nil
}
