// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The CLI would start one that is on the PATH, and give its variables to each plugin, so that an
// image or a program could change what policy packs do.
func TestNoCredentialHelperIsStarted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	tools, started := t.TempDir(), filepath.Join(t.TempDir(), "started")
	helper := "#!/bin/sh\ntouch " + started + "\necho '{\"version\":1}'\n"
	l.Expect(os.WriteFile(filepath.Join(tools, "pulumi-credential-helper"), []byte(helper), 0o700)).To(Succeed())
	l.driver.Path = append([]string{tools}, l.driver.Path...)
	result := l.do(t.Context(), l.update("outputs: {o: x}\n"))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(started).NotTo(BeAnExistingFile())
}
