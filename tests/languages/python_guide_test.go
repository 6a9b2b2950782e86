// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// The SDK is a stand-in that makes no resources: Pulumi's is in no index that tests reach.
func TestTheGuideForPython(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	if err := exec.Command("/usr/bin/python3", "-c", "import ensurepip, venv").Run(); err != nil {
		t.Skipf("this machine has no /usr/bin/python3 with venv and pip: %v", err)
	}
	index := newIndex(t, map[string]string{
		"pulumi":        "def export(name, value):\n    print(name, value)\n",
		"pulumi_random": "class RandomPet:\n    def __init__(self, name, length=None):\n        self.id = name\n",
		"acme_naming":   "", "wheel": "", "setuptools": "",
	})
	g := newGuide(t, "python.md", sources.Files{"README.md": "# Pets\n"})
	g.env = append(g.env, "INDEX_TOKEN="+registryToken, "PIP_INDEX_URL="+index.URL+"/public/simple/", "PIP_DISABLE_PIP_VERSION_CHECK=1")
	g.variables["PIP_INDEX_URL"] = index.URL + "/public/simple/"
	g.here = append(g.here, "https://reader:$INDEX_TOKEN@pypi.example.com/",
		strings.Replace(index.URL, "http://", "http://reader:$INDEX_TOKEN@", 1)+"/private/")
	g.follow()
	g.shownNowhere(registryToken)
}

// newIndex serves packages below /public, and below /private to who has the token.
func newIndex(t *testing.T, modules map[string]string) *httptest.Server {
	t.Helper()
	files, wheels := map[string]string{}, map[string]string{}
	for name, module := range modules {
		version := "4.16.0"
		if name == "pulumi" {
			version = "3.274.1"
		}
		wheel, err := sources.Wheel(name, version, module)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		files[strings.ReplaceAll(name, "_", "-")] = sources.WheelName(name, version)
		wheels[sources.WheelName(name, version)] = wheel
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch name := path.Base(r.URL.Path); {
		case strings.HasPrefix(r.URL.Path, "/private/") && password != registryToken:
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case wheels[name] != "":
			_, _ = fmt.Fprint(w, wheels[name]) // pip notices
		case files[name] != "":
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, "<a href=%q>%[1]s</a>", files[name])
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}
