// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The Pulumi of an old operator has left it, and Pulumi's own advice alone does not help: its upgrade ends with the same error.
func TestABackendInTheOldLayoutIsLeftAloneAndTheMessageSaysHowToUpgradeIt(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	old := filepath.Join(l.backend, ".pulumi", "stacks", "dev.json")
	writeTree(t, l.backend, map[string]string{".pulumi/stacks/dev.json": `{"version":3,"checkpoint":{"latest":{"resources":[
		{"urn":"urn:pulumi:dev::demo::pulumi:pulumi:Stack::demo-dev","type":"pulumi:pulumi:Stack"}]}}}`})
	r := l.update("outputs: {a: 1}")
	r.Exists = true
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	before, advice, _ := strings.Cut(result.Message, "PULUMI_BACKEND_URL=<backend> PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=1 pulumi state upgrade")
	l.Expect(before).To(ContainSubstring("upgrade the backend with a Pulumi of your own"), result.Message)
	l.Expect(advice).To(Equal(")"))
	l.Expect(old).To(BeARegularFile())

	upgrade := exec.CommandContext(t.Context(), filepath.Join(l.driver.Bin, "pulumi"), "state", "upgrade", "--yes")
	upgrade.Env = []string{"HOME=" + t.TempDir(), grammar.BackendVariable + "=" + r.Backend, "PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=1", "PULUMI_SKIP_UPDATE_CHECK=true"}
	output, err := upgrade.CombinedOutput()
	l.Expect(err).NotTo(HaveOccurred(), "%s", output)
	r = l.update("outputs: {a: 1}")
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Succeeded))
	l.Expect(old).NotTo(BeAnExistingFile())
}
