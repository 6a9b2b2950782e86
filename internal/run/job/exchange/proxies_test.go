// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatAPodIsHandedOfTheNetwork(t *testing.T) {
	type env = map[string]string
	for name, tt := range map[string]struct{ given, want env }{
		"nothing":          {nil, nil},
		"proxies":          {env{"HTTPS_PROXY": "http://proxy:3128", "no_proxy": ".svc,10.0.0.0/8"}, env{"HTTPS_PROXY": "http://proxy:3128", "no_proxy": ".svc,10.0.0.0/8"}},
		"one by password":  {env{"HTTPS_PROXY": "http://me:hush@proxy", "NO_PROXY": ".svc"}, env{"NO_PROXY": ".svc"}},
		"files are not":    {env{"SSL_CERT_FILE": "/ca.pem", "SSL_CERT_DIR": "/certs"}, nil},
		"nothing of a key": {env{"AWS_SECRET_ACCESS_KEY": "hush"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Proxies(tt.given)).To(Equal(tt.want))
		})
	}
}

func TestTheProxiesOfAPodItself(t *testing.T) {
	type env = map[string]string
	proxies := env{"HTTPS_PROXY": "http://proxy", "https_proxy": "http://proxy", "NO_PROXY": ".svc"}
	for name, tt := range map[string]struct{ own, proxies, want env }{
		"none":                  {env{"A": "b"}, proxies, env{"A": "b", "HTTPS_PROXY": "http://proxy", "https_proxy": "http://proxy", "NO_PROXY": ".svc"}},
		"another":               {env{"HTTPS_PROXY": "http://own"}, proxies, env{"HTTPS_PROXY": "http://own", "NO_PROXY": ".svc"}},
		"no proxy, in any case": {env{"https_proxy": "", "no_proxy": "x"}, proxies, env{"https_proxy": "", "no_proxy": "x"}},
		"none was handed":       {env{"A": "b"}, nil, env{"A": "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(WithProxies(tt.own, tt.proxies)).To(Equal(tt.want))
		})
	}
}
