// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// namesThings is a program whose thing has the value that a package exports.
const namesThings = `"use strict";
const { Thing } = require("./thing");
new Thing("a", { name: "a", value: require("naming") });
`

// withToken gives the runs the token of the registry from a Secret.
func (p *project) withToken(token string) func(*v1.StackSpec) {
	p.test.Helper()
	p.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "npm"}, StringData: map[string]string{"token": token}})
	return func(s *v1.StackSpec) {
		s.EnvRefs["NPM_TOKEN"] = v1.ResourceRef{Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "npm", Key: "token"}}
	}
}

func TestATokenForARegistryIsMasked(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	const wrong = "canary-of-a-wrong-token-17aa"
	registry := newRegistry(t)
	registry.publish(t, "naming", "1.0.0", `module.exports = "one";`)
	program := sources.Files{
		"package.json": `{"name": "app", "dependencies": {"naming": "^1.0.0"}}`, "index.js": namesThings, ".npmrc": registry.NPMRC(),
	}
	p := newProject(t, files(t, "javascript", program))
	stack := p.stack(p.withToken(wrong))
	p.awaitFailure(stack, "installing the dependencies of the program: npm error 401 Unauthorized - GET "+registry.URL)
	p.shownNowhere(wrong)

	p.commit(sources.Files{"package.json": `{"name": "app", "scripts": {"preinstall": "echo npm error the token is $NPM_TOKEN >&2; exit 1"}}`})
	p.awaitFailure(stack, "the token is ***")
	p.shownNowhere(wrong)
}

// Versions come from the lock file. If it does not fit, npm installs others, unless the Stack sets CI.
func TestThePackageLockOfAProgram(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	registry := newRegistry(t)
	first := registry.publish(t, "naming", "1.0.0", `module.exports = "first";`)
	registry.publish(t, "naming", "1.1.0", `module.exports = "second";`)
	manifest := func(dependencies string) sources.Files {
		return sources.Files{"package.json": `{"name": "app", "dependencies": {` + dependencies + `}}`}
	}
	p := newProject(t, files(t, "javascript", manifest(`"naming": "^1.0.0"`),
		sources.Files{"index.js": namesThings, ".npmrc": registry.NPMRC()}))
	stack := p.stack(p.withToken(registryToken))
	p.awaitReady(stack)
	p.Expect(p.things()).To(HaveKeyWithValue("a", "second"), "the newest, without a lock file")

	p.commit(sources.Files{"package-lock.json": fmt.Sprintf(`{
  "name": "app",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {"name": "app", "dependencies": {"naming": "^1.0.0"}},
    "node_modules/naming": {"version": "1.0.0", "integrity": %q}
  }
}
`, first)})
	p.awaitReady(stack)
	p.Expect(p.things()).To(HaveKeyWithValue("a", "first"))

	p.commit(manifest(`"naming": "^1.1.0"`))
	p.awaitWarning(stack, "package-lock.json of the source did not fit the program")
	p.Expect(p.things()).To(HaveKeyWithValue("a", "second"))

	p.edit(stack, func(s *v1.StackSpec) { s.EnvRefs["CI"] = literal("true") })
	p.awaitFailure(stack, "package-lock.json of the source does not fit the program, and CI is set")
}

// A package of the same repository needs no registry, whatever links it into node_modules.
func TestPackagesOfTheSameRepository(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	naming := sources.Files{
		"naming/package.json": `{"name": "naming", "version": "1.0.0", "main": "index.js"}`,
		"naming/index.js":     `module.exports = "of the repository";`,
	}
	for name, repository := range map[string]sources.Files{
		"file:": {"app/package.json": `{"name": "app", "dependencies": {"naming": "file:../naming"}}`},
		"a workspace of npm": {
			"package.json":     `{"name": "root", "private": true, "workspaces": ["app", "naming"]}`,
			"app/package.json": `{"name": "app", "dependencies": {"naming": "^1.0.0"}}`,
		},
		"a workspace of pnpm": {
			"package.json":        `{"name": "root", "private": true}`,
			"pnpm-workspace.yaml": "packages: [app, naming]\n",
			"app/package.json":    `{"name": "app", "dependencies": {"naming": "workspace:*"}}`,
			"pnpm-lock.yaml": `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .: {}

  app:
    dependencies:
      naming:
        specifier: workspace:*
        version: link:../naming

  naming: {}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := sources.Files{}
			for file, content := range files(t, "javascript", sources.Files{"index.js": namesThings}) {
				all["app/"+file] = content
			}
			p := newProject(t, both(both(all, naming), repository))
			stack := p.stack(in("app"))
			p.awaitReady(stack)
			p.Expect(p.things()).To(Equal(map[string]string{"a": "of the repository"}))
		})
	}
}
