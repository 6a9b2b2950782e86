// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

// nodeSource is a program in TypeScript as it comes from git.
func nodeSource() map[string]string {
	return map[string]string{
		"infra/package.json": `{"dependencies": {"@pulumi/pulumi": "^3.0.0"}, "scripts": {"test": "mocha", "build": "tsc"}}`, "infra/package-lock.json": `{"lockfileVersion": 3}`,
		"infra/index.ts": "export {}", "infra/Pulumi.yaml": "name: app\nruntime: nodejs", "infra/Pulumi.dev.yaml": "config: {}",
	}
}

func keyOf(t *testing.T, i installation, files map[string]string) snapshot.Key {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	writeTree(t, root.Name(), files)
	i.seen = survey(root, "infra", "", i.tools)
	key, err := i.key(root)
	if err != nil {
		t.Fatal(err)
	}
	return key.Key
}

func TestWhatDecidesWhetherDependenciesAreInstalledAgain(t *testing.T) {
	tools := t.TempDir()
	writeTree(t, tools, map[string]string{"npm": "1", "node": "1"})
	withVersion := func(version string) func(*installation, map[string]string) {
		return func(i *installation, _ map[string]string) {
			i.tools = []string{filepath.Join(tools, "bin")}
			writeTree(t, tools, map[string]string{
				"pnpm/bin/pnpm.cjs": "require('../dist')", "pnpm/package.json": `{"version": "` + version + `"}`,
			})
			g := NewWithT(t)
			script := filepath.Join(tools, "pnpm/bin/pnpm.cjs")
			g.Expect(os.Chmod(script, 0o755)).To(Succeed())
			g.Expect(os.Chtimes(script, time.Unix(1, 0), time.Unix(1, 0))).To(Succeed())
			g.Expect(os.MkdirAll(i.tools[0], 0o755)).To(Succeed())
			g.Expect(os.Symlink(script, filepath.Join(i.tools[0], "pnpm"))).To(Or(Succeed(), MatchError(os.ErrExist)))
		}
	}
	for _, tool := range []string{"npm", "node"} {
		if err := os.Chmod(filepath.Join(tools, tool), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	nodejs := installation{needs: needs{runtime: "nodejs", options: "{}"}, artifact: "sha256:1", dir: "infra", tools: []string{tools}}
	python := nodejs
	python.needs.runtime = "python"
	add := func(name, text string) func(*installation, map[string]string) {
		return func(_ *installation, files map[string]string) { files[name] = text }
	}
	env := func(variables ...string) func(*installation, map[string]string) {
		return func(i *installation, _ map[string]string) { i.env = variables }
	}
	newCommit := func(i *installation, files map[string]string) {
		i.artifact = "sha256:2"
		files["infra/index.ts"] = "export const x = 1"
	}
	for name, tt := range map[string]struct {
		of installation
		// given is true of both, change only of the second.
		given, change func(*installation, map[string]string)
		isSame        bool
	}{
		"a commit that leaves the manifests alone": {nodejs, nil, newCommit, true},
		"stack settings":          {nodejs, nil, add("infra/Pulumi.prod.yaml", "config: {a: b}"), true},
		"a token that is renewed": {nodejs, env("NPM_TOKEN=1", "npm_config__authToken=1"), env("NPM_TOKEN=2", "npm_config__authToken=2"), true},
		"a password in the address of the registry": {
			python, env("PIP_INDEX_URL=https://me:1@registry.example.com/simple"), env("PIP_INDEX_URL=https://me:2@registry.example.com/simple"), true},
		"credentials of a cloud":                            {nodejs, nil, env("AWS_SECRET_ACCESS_KEY=1", "AWS_REGION=eu-west-1"), true},
		"another lock file":                                 {nodejs, nil, add("infra/package-lock.json", `{"lockfileVersion": 2}`), false},
		"another package.json":                              {nodejs, nil, add("infra/package.json", `{}`), false},
		"the manifest of another package of the repository": {nodejs, nil, add("lib/package.json", `{}`), false},
		"settings of npm":                                   {nodejs, nil, add(".npmrc", "registry=https://registry.example.com"), false},
		"another registry":                                  {nodejs, nil, env("npm_config_registry=https://registry.example.com"), false},
		"what NODE_ENV leaves out":                          {nodejs, nil, env("NODE_ENV=production"), false},
		"options of the runtime":                            {nodejs, nil, func(i *installation, _ map[string]string) { i.needs.options = `{"packagemanager":"pnpm"}` }, false},
		"the directory of the program":                      {nodejs, nil, func(i *installation, _ map[string]string) { i.dir = "lib" }, false},
		"another runtime":                                   {nodejs, nil, func(i *installation, _ map[string]string) { i.needs.runtime = "bun" }, false},
		"another pnpm of the same size and time":            {nodejs, withVersion("9"), withVersion("10"), false},
		"another npm":                                       {nodejs, nil, func(i *installation, _ map[string]string) { i.tools = []string{"/nowhere"} }, false},
		"a patch":                                           {nodejs, nil, add("infra/patches/aws+7.0.0.patch", "-a\n+b"), false},
		"a package that lies in the source":                 {nodejs, nil, add("infra/own-1.0.0.tgz", "tgz"), false},
		"a script that the installation runs":               {nodejs, add("infra/package.json", `{"scripts": {"postinstall": "node setup.js"}}`), newCommit, false},
		"a package.json that is no JSON":                    {nodejs, add("infra/package.json", `{`), newCommit, false},
		"a dependency in the source":                        {nodejs, add("infra/package.json", `{"dependencies": {"own": "file:../lib"}}`), newCommit, false},
		"hooks of pnpm":                                     {nodejs, add("infra/.pnpmfile.cjs", `require("./hooks")`), newCommit, false},
		"a node_modules in the source":                      {nodejs, add("infra/node_modules/a/index.js", ""), newCommit, false},
		"a directory as yarn also accepts it":               {nodejs, add("infra/package.json", `{"dependencies": {"own": "../lib"}, "main": "./x"}`), newCommit, false},
		"a program with an entry point":                     {nodejs, add("infra/package.json", `{"dependencies": {"a": "1"}, "main": "./index.ts"}`), newCommit, true},
		"a patch beside it":                                 {nodejs, nil, add("infra/fixes/aws.patch", "-a\n+b"), false},
		"yarn where the host prefers npm":                   {nodejs, nil, env("PULUMI_PREFER_YARN=true"), false},
		"another file with settings of npm":                 {nodejs, env("NPM_CONFIG_USERCONFIG=/a"), env("NPM_CONFIG_USERCONFIG=/b"), false},
		"no manifest at all":                                {nodejs, func(_ *installation, files map[string]string) { clear(files) }, newCommit, false},

		"requirements.txt":             {python, nil, add("infra/requirements.txt", "pulumi==3.0.0"), false},
		"a commit with pip":            {python, add("infra/requirements.txt", "pulumi==3.0.0\n# see ./README"), newCommit, true},
		"an editable requirement":      {python, add("infra/requirements.txt", "pulumi\n-e ../lib"), newCommit, false},
		"a requirement by path":        {python, add("infra/requirements-dev.txt", "./lib"), newCommit, false},
		"a commit with uv":             {python, add("infra/pyproject.toml", "[project]\nname = \"infra\"\ndependencies = [\"pulumi\"]\n"), newCommit, true},
		"a package to be built":        {python, add("infra/pyproject.toml", "[build-system]\nrequires = [\"hatchling\"]\n"), newCommit, false},
		"a commit with poetry":         {python, add("infra/pyproject.toml", "[tool.poetry]\npackage-mode = false\n"), newCommit, true},
		"a package of poetry":          {python, add("infra/pyproject.toml", "[tool.poetry]\nname = \"infra\"\n"), newCommit, false},
		"requirements in another file": {python, add("infra/requirements.txt", "-r base.txt"), newCommit, false},
		"requirements in a directory": {
			python, add("infra/requirements.txt", "-r requirements/base.txt"), add("infra/requirements/base.txt", "pulumi==3.1.0"), false},
		"a commit with requirements in a directory": {
			python, func(_ *installation, files map[string]string) {
				files["infra/requirements.txt"], files["infra/requirements/base.txt"] = "-r requirements/base.txt", "pulumi"
			}, newCommit, true},
		"another python":            {python, env("PULUMI_PYTHON_CMD=python3.12"), env("PULUMI_PYTHON_CMD=python3.13"), false},
		"a .venv in the source":     {python, add("infra/.venv/README", ""), newCommit, false},
		"passwords of two indexes":  {python, env("PIP_EXTRA_INDEX_URL=https://b/ https://me:1@a/x"), env("PIP_EXTRA_INDEX_URL=https://b/ https://me:2@a/x"), true},
		"a package with a setup":    {python, add("lib/setup.py", "setup()"), newCommit, false},
		"wheels beside a commit":    {python, add("infra/wheels/a.whl", "wheel"), newCommit, true},
		"another wheel":             {python, add("infra/wheels/a.whl", "wheel"), add("infra/wheels/a.whl", "other"), false},
		"another version of Python": {python, nil, add(".python-version", "3.13"), false},

		"a script that NODE_OPTIONS names":  {nodejs, env("NODE_OPTIONS=--max-old-space-size=1024 --require ./hook"), newCommit, false},
		"limits in NODE_OPTIONS":            {nodejs, env("NODE_OPTIONS=--max-old-space-size=1024 --no-warnings"), newCommit, true},
		"modules that NODE_PATH names":      {nodejs, env("NODE_PATH=lib"), newCommit, false},
		"a shell for scripts in the source": {nodejs, env("npm_config_script_shell=./index.ts"), newCommit, false},
		"a shell for scripts in the image":  {nodejs, env("npm_config_script_shell=/bin/sh"), newCommit, true},
		"a hook that .npmrc names":          {nodejs, add("infra/.npmrc", "node-options=--require ./hook.js"), newCommit, false},
		"a .npmrc with a registry":          {nodejs, add("infra/.npmrc", "registry=https://registry.example.com/"), newCommit, true},
		"hooks that pnpm-workspace.yaml names": {
			nodejs, add("pnpm-workspace.yaml", "packages: [infra]\npnpmfile: hooks.cjs\n"), newCommit, false},
		"a link that pnpm-workspace.yaml names": {
			nodejs, add("pnpm-workspace.yaml", "overrides:\n  own: link:../lib\n"), newCommit, false},
		"a yarn beside the program":  {nodejs, add(".yarnrc", "yarn-path \"./tools/yarn.js\""), newCommit, false},
		"a yarn where yarn keeps it": {nodejs, add(".yarnrc.yml", "yarnPath: .yarn/releases/yarn-4.9.1.cjs"), newCommit, true},
		"code that bun loads":        {nodejs, add("infra/bunfig.toml", "preload = [\"./hook.ts\"]"), newCommit, false},

		"modules that PYTHONPATH names":            {python, env("PYTHONPATH=lib"), newCommit, false},
		"modules of the image":                     {python, env("PYTHONPATH=/opt/lib"), newCommit, true},
		"a requirement in a directory":             {python, add("infra/requirements.txt", "pulumi\nlib/own ; python_version > \"3\""), newCommit, false},
		"a requirement at an address":              {python, add("infra/requirements.txt", "own @ https://example.com/own.whl"), newCommit, true},
		"an index":                                 {python, add("infra/requirements.txt", "--index-url https://example.com/simple\npulumi"), newCommit, true},
		"an index in the source":                   {python, add("infra/requirements.txt", "--index-url ./simple\npulumi"), newCommit, false},
		"links in the source":                      {python, add("infra/requirements.txt", "--find-links links.html\npulumi"), newCommit, false},
		"an abbreviated option":                    {python, add("infra/requirements.txt", "--requ base\npulumi"), newCommit, false},
		"an editable requirement on two lines":     {python, add("infra/requirements.txt", "-r \\\n base.txt"), newCommit, false},
		"a comment behind a requirement":           {python, add("infra/requirements.txt", "pulumi # see docs/README"), newCommit, true},
		"a page of links that a variable names":    {python, env("PIP_FIND_LINKS=wheels index.ts"), newCommit, false},
		"wheels in a directory of the source":      {python, env("PIP_FIND_LINKS=wheels"), newCommit, true},
		"an archive that is packed in another way": {python, nil, add("infra/own-1.0.0.tar.xz", "xz"), false},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(edits ...func(*installation, map[string]string)) snapshot.Key {
				i, files := tt.of, maps.Clone(nodeSource())
				for _, edit := range edits {
					if edit != nil {
						edit(&i, files)
					}
				}
				return keyOf(t, i, files)
			}
			g := NewWithT(t)
			first := of(tt.given)
			g.Expect(of(tt.given)).To(Equal(first), "the same has the same key")
			g.Expect(of(tt.given, tt.change) == first).To(Equal(tt.isSame))
		})
	}
}

// Platforms mount such files into the controller, or have them in an image.
func TestSettingsOutsideOfTheSourceDecideWhetherDependenciesAreInstalledAgain(t *testing.T) {
	dir := t.TempDir()
	nodejs := installation{
		needs: needs{runtime: "nodejs"}, artifact: "sha256:1", dir: "infra", tools: []string{filepath.Join(dir, "node", "bin")},
		env: []string{"NPM_CONFIG_USERCONFIG=" + filepath.Join(dir, "npmrc"), "XDG_CONFIG_HOME=" + dir},
	}
	python := nodejs
	python.needs.runtime = "python"
	python.env = []string{"PIP_CONFIG_FILE=" + filepath.Join(dir, "pip.conf"), "XDG_CONFIG_DIRS=/nowhere:" + dir}
	writeTree(t, dir, map[string]string{"node/bin/node": "1"})
	if err := os.Chmod(filepath.Join(dir, "node", "bin", "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("#\n", maxSettings/2)
	for name, tt := range map[string]struct {
		of                   installation
		file, first, changed string
		isSame               bool
	}{
		"the registry of npm":    {nodejs, "npmrc", "registry=https://a.example.com/", "registry=https://b.example.com/", false},
		"a token of npm":         {nodejs, "npmrc", "//a.example.com/:_authToken=1", "//a.example.com/:_authToken=2", true},
		"the registry of node":   {nodejs, "node/etc/npmrc", "registry=https://a.example.com/", "registry=https://b.example.com/", false},
		"the registry of pnpm":   {nodejs, "pnpm/rc", "registry=https://a.example.com/", "registry=https://b.example.com/", false},
		"the index of pip":       {python, "pip.conf", "[global]\nindex-url = https://a.example.com/", "[global]\nindex-url = https://b.example.com/", false},
		"a password of pip":      {python, "pip.conf", "index-url = https://me:1@a.example.com/", "index-url = https://me:2@a.example.com/", true},
		"the index of all users": {python, "pip/pip.conf", "index-url = https://a.example.com/", "index-url = https://b.example.com/", false},
		"a long file":            {nodejs, "npmrc", long + "registry=https://a.example.com/", long + "registry=https://b.example.com/", false},
		"the index of uv":        {python, "uv/uv.toml", "index-url = \"https://a.example.com/\"", "index-url = \"https://b.example.com/\"", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			writeTree(t, dir, map[string]string{tt.file: tt.first})
			defer func() { g.Expect(os.Remove(filepath.Join(dir, tt.file))).To(Succeed()) }()
			first := keyOf(t, tt.of, nodeSource())
			writeTree(t, dir, map[string]string{tt.file: tt.changed})
			g.Expect(keyOf(t, tt.of, nodeSource()) == first).To(Equal(tt.isSame))
		})
	}
}

// A pipe without a writer blocks whatever opens it to read.
func TestSettingsThatAreAPipeAreNotRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "npmrc")
	NewWithT(t).Expect(syscall.Mkfifo(pipe, 0o600)).To(Succeed())
	keyOf(t, installation{
		needs: needs{runtime: "nodejs"}, artifact: "sha256:1", dir: "infra", env: []string{"NPM_CONFIG_USERCONFIG=" + pipe},
	}, nodeSource())
}

func TestABigManifestIsHashedWhole(t *testing.T) {
	g := NewWithT(t)
	nodejs := installation{needs: needs{runtime: "nodejs"}, artifact: "sha256:1", dir: "infra"}
	files := nodeSource()
	files["infra/package-lock.json"] = strings.Repeat("x", maxManifest+5)
	first := keyOf(t, nodejs, files)
	files["infra/package-lock.json"] = strings.Repeat("x", maxManifest+4) + "y"
	g.Expect(keyOf(t, nodejs, files)).NotTo(Equal(first))
}

func TestWhichDependenciesAreKept(t *testing.T) {
	for of, isKept := range map[needs]bool{
		{runtime: "nodejs"}: true, {runtime: "bun"}: true, {runtime: "python"}: true,
		{runtime: "nodejs", packages: true}: false, {runtime: "go"}: false, {runtime: "dotnet"}: false, {runtime: "java"}: false,
	} {
		NewWithT(t).Expect(installation{needs: of}.isSnapshotted()).To(Equal(isKept), "%+v", of)
	}
}
