// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestPlacesOfAnotherUserAreDropped(t *testing.T) {
	g := NewWithT(t)
	own := t.TempDir()
	// Root, who may run the tests, can write to any directory, but not below a file.
	foreign := filepath.Join(own, "file")
	g.Expect(os.WriteFile(foreign, nil, 0o600)).To(Succeed())
	mounted := filepath.Join(own, "mounted")
	g.Expect(os.Mkdir(mounted, 0o500)).To(Succeed())

	environ := map[string]string{
		"GOPATH": filepath.Join(foreign, "go"), "XDG_CACHE_HOME": filepath.Join(foreign, ".cache"), "XDG_CONFIG_HOME": filepath.Join(foreign, ".config"),
		"GOROOT": foreign, "JAVA_HOME": foreign,
	}
	dropForeignPlaces(environ)
	g.Expect(environ).To(Equal(map[string]string{"GOROOT": foreign, "JAVA_HOME": foreign}))

	given := func() map[string]string {
		return map[string]string{
			"GOPATH": filepath.Join(own, "go") + ":" + foreign, "GOCACHE": filepath.Join(own, "go-build"), "XDG_CONFIG_HOME": mounted, "XDG_DATA_HOME": own, "XDG_STATE_HOME": "",
		}
	}
	environ = given()
	dropForeignPlaces(environ)
	g.Expect(environ).To(Equal(given()), "what a template has mounted stays")
	g.Expect(os.ReadDir(filepath.Join(own, "go-build"))).To(BeEmpty())
}
