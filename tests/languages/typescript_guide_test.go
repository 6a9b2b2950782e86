// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"strings"
	"testing"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

func TestTheGuideForTypeScript(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	public, private := newPublicRegistry(t), newRegistry(t)
	public.publishSDK(t)
	private.publishFiles(t, "@acme/naming", "1.0.0", sources.Files{
		"index.js": `exports.prefix = "acme";`, "index.d.ts": "export declare const prefix: string;\n",
	})
	images := newImages(t)
	g := newGuide(t, "typescript.md", sources.Files{"README.md": "# Pets\n"})
	g.env = append(g.env, "npm_config_registry="+public.URL, "NPM_TOKEN="+registryToken)
	g.variables["npm_config_registry"] = public.URL
	g.here = append(g.here, "https://npm.example.com", private.URL, "//npm.example.com", strings.TrimPrefix(private.URL, "http:"),
		"oci://ghcr.io/example/pets", images.URL("pets"), "flux push artifact", "flux push artifact --insecure-registry")
	g.follow()
	g.shownNowhere(registryToken)
}
