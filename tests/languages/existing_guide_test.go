// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// The stack is one that Pulumi alone has made, in an S3-compatible store.
func TestTheGuideForExistingPrograms(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	g := newGuide(t, "existing-programs.md", sources.Files{
		"infra/pets/Pulumi.yaml":   "name: pets\nruntime: nodejs\n",
		"infra/pets/package.json":  `{"name": "pets", "dependencies": {"naming": "file:../../packages/naming"}}`,
		"infra/pets/index.ts":      existingProgram,
		"packages/naming/index.js": `exports.prefix = "acme";`, "packages/naming/package.json": `{"name": "naming", "version": "1.0.0"}`,
		".gitignore": "node_modules\n", "README.md": "# Untitled\n", "docs/index.md": "# Documents\n",
	})
	store, err := sources.NewS3Server(t.Context(), t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(store.Close()).To(Succeed()) })
	g.Expect(store.MakeBackend(t.Context(), "example-pulumi-state")).To(Succeed())
	backend := "s3://example-pulumi-state?endpoint=http://" + store.Endpoint() + "&region=" + store.Region() + "&s3ForcePathStyle=true"
	g.here = append(g.here, "s3://example-pulumi-state?region=eu-west-1", backend)
	g.variables = nil
	g.hasPulumi(backend)
	g.env = append(g.env, "AWS_ACCESS_KEY_ID="+store.Credentials()["accesskey"], "AWS_SECRET_ACCESS_KEY="+store.Credentials()["secretkey"])
	g.types(`cd infra/pets
npm install
pulumi stack init production
pulumi config set length 3
pulumi config set --secret password ` + canary + `
pulumi up --yes --skip-preview
cd ../..
git add .
git commit --message "Add the pets"
git push`)
	g.follow()
	g.shownNowhere(canary)
	last := strings.TrimSpace(g.types("git rev-parse HEAD"))
	log, err := os.ReadFile(g.ControllerLog())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(log)).NotTo(MatchRegexp(`"update starts".*`+last), "the last commit changes nothing that the program needs")
}

const existingProgram = `import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";

const config = new pulumi.Config();
const naming = require("naming");
const pet = new random.RandomPet("pet", { prefix: naming.prefix, length: config.requireNumber("length") });

export const name = pulumi.interpolate` + "`${pet.id} ${config.requireSecret(\"password\")}`" + `;
`

// hasPulumi lets the person use Pulumi without the controller.
func (g *guide) hasPulumi(backend string) {
	g.test.Helper()
	sdk, err := toolchain.NodeModules()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Symlink(sdk, filepath.Join(g.home, "node_modules"))).To(Succeed())
	provider, err := process.FindBin(filepath.Join("lab", "pulumi-resource-standin"))
	g.Expect(err).NotTo(HaveOccurred())
	plugin := filepath.Join(g.home, ".pulumi", "plugins", "resource-random-v4.16.0")
	g.Expect(os.MkdirAll(plugin, 0o755)).To(Succeed())
	g.Expect(os.Symlink(provider, filepath.Join(plugin, "pulumi-resource-random"))).To(Succeed())
	g.env = append(g.env, "PULUMI_HOME="+filepath.Join(g.home, ".pulumi"), "PULUMI_BACKEND_URL="+backend, "PULUMI_CONFIG_PASSPHRASE=passphrase", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true")
}
