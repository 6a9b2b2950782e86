// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhichProxiesArePassedToAPod(t *testing.T) {
	type env = map[string]string
	for name, tt := range map[string]struct{ given, want env }{
		"nothing":               {nil, nil},
		"proxies":               {env{"HTTPS_PROXY": "http://proxy:3128", "no_proxy": ".svc,10.0.0.0/8"}, env{"HTTPS_PROXY": "http://proxy:3128", "no_proxy": ".svc,10.0.0.0/8"}},
		"proxy with a password": {env{"HTTPS_PROXY": "http://me:hush@proxy", "NO_PROXY": ".svc"}, env{"NO_PROXY": ".svc"}},
		"CA files":              {env{"SSL_CERT_FILE": "/ca.pem", "SSL_CERT_DIR": "/certs"}, nil},
		"a credential":          {env{"AWS_SECRET_ACCESS_KEY": "hush"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Proxies(tt.given)).To(Equal(tt.want))
		})
	}
}

func TestProxiesOfThePodWin(t *testing.T) {
	type env = map[string]string
	proxies := env{"HTTPS_PROXY": "http://proxy", "https_proxy": "http://proxy", "NO_PROXY": ".svc"}
	for name, tt := range map[string]struct{ own, proxies, want env }{
		"pod has none":                    {env{"A": "b"}, proxies, env{"A": "b", "HTTPS_PROXY": "http://proxy", "https_proxy": "http://proxy", "NO_PROXY": ".svc"}},
		"pod has another":                 {env{"HTTPS_PROXY": "http://own"}, proxies, env{"HTTPS_PROXY": "http://own", "NO_PROXY": ".svc"}},
		"pod disables them in lower case": {env{"https_proxy": "", "no_proxy": "x"}, proxies, env{"https_proxy": "", "no_proxy": "x"}},
		"none passed":                     {env{"A": "b"}, nil, env{"A": "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(WithProxies(tt.own, tt.proxies)).To(Equal(tt.want))
		})
	}
}
