// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// manifestName matches the names of the files that package managers read.
var manifestName = regexp.MustCompile(`^(package\.(json|yaml)|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|` +
	`bun\.lockb?|bunfig\.toml|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.[cm]?js|\.(node|python)-version|\.nvmrc|` +
	`.*requirements.*\.(txt|in)|.*constraints.*\.txt|pyproject\.toml|setup\.(py|cfg)|poetry\.(toml|lock)|uv\.(toml|lock)|Pipfile(\.lock)?|pip\.(conf|ini)|binding\.gyp|` +
	`.*\.(whl|zip|patch|tar(\.\w+)?|tgz|tbz|txz|tlz))$`)

// isManifest reports whether package managers read a file of a source. They read those of
// some directories whatever their names are.
func isManifest(name string) bool {
	if slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains([]string{".yarn", "patches", "requirements"}, dir)
	}) {
		return true
	}
	return manifestName.MatchString(path.Base(name))
}

// readManifests adds the manifests of a source to the key, wherever they are: a package manager
// also reads those of parent directories and workspaces. readsMore is set if an installation may
// read other files too.
func readManifests(root *os.Root, virtualenv string, k keyHash) (count int, readsMore bool, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, found fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case found.IsDir() && slices.Contains([]string{"node_modules", ".venv", path.Base(virtualenv)}, found.Name()) && name != ".":
			// The installation compares with it, and keeps what fits.
			readsMore = true
			return fs.SkipDir
		case !found.Type().IsRegular() || !isManifest(name):
			return nil
		}
		more, err := addManifest(root, name, k)
		count, readsMore = count+1, readsMore || more
		return err
	})
	return count, readsMore, err
}

// maxManifest bounds the manifests that are read for what else an installation reads.
const maxManifest = 16 << 20

func addManifest(root *os.Root, name string, k keyHash) (readsMore bool, err error) {
	file, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it is only read
	var start bytes.Buffer
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(sum, &start), io.LimitReader(file, maxManifest)); err != nil {
		return false, err
	}
	rest, err := io.Copy(sum, file)
	if err != nil {
		return false, err
	}
	k.add("manifest", name, string(sum.Sum(nil)))
	return rest > 0 || readsSource(name, start.Bytes()), nil
}

// readsSource reports whether an installation may read more of the source than its manifests:
// scripts of the program's own packages, packages that are directories of the source, and
// files that settings name.
func readsSource(name string, text []byte) bool {
	base := path.Base(name)
	switch base {
	case "package.json":
		return hasInstallScript(text) || namesLocalPackage(text) || hasLocalDependency(text)
	case "pnpm-lock.yaml":
		return namesLocalPackage(text)
	case "pnpm-workspace.yaml":
		return namesLocalPackage(text) || regexp.MustCompile(`(?m)^\s*["']?(pnpmfile|globalPnpmfile|nodeOptions|scriptShell)\b`).Match(text)
	case ".npmrc":
		return regexp.MustCompile(`(?mi)^\s*(node[-_]options|script[-_]shell|shell|pnpmfile|global[-_]pnpmfile|node[-_]gyp|git|userconfig|globalconfig|prefix)\s*=`).Match(text)
	case ".yarnrc", ".yarnrc.yml":
		return namesScript(text)
	case "bunfig.toml":
		return bytes.Contains(text, []byte("preload"))
	case "package.yaml", "setup.py", "setup.cfg", "binding.gyp":
		return true
	case "pyproject.toml":
		return regexp.MustCompile(`(?m)^\s*\[build-system\]|\bpath\s*=|\bworkspace\s*=|file:|^\s*package-mode\s*=\s*true`).Match(text) ||
			(bytes.Contains(text, []byte("[tool.poetry]")) && !regexp.MustCompile(`(?m)^\s*package-mode\s*=\s*false`).Match(text))
	}
	return strings.HasPrefix(base, ".pnpmfile.") || regexp.MustCompile(`(requirements|constraints).*\.(txt|in)$`).MatchString(name) && requirementsReadSource(text)
}

// namesLocalPackage reports whether a package is a directory or a script of the source.
func namesLocalPackage(text []byte) bool {
	return regexp.MustCompile(`["'\s](file|link|portal|exec):`).Match(text)
}

// namesScript reports whether the settings of yarn name a script, such as yarn itself, that is not
// where yarn has its own.
func namesScript(text []byte) bool {
	for _, script := range regexp.MustCompile(`[^\s"']+\.[cm]?js\b`).FindAllString(string(text), -1) {
		if !strings.HasPrefix(path.Clean(script), ".yarn/") {
			return true
		}
	}
	return false
}

// requirementsReadSource reports whether requirements name a directory of the source, or a file that
// is no manifest.
func requirementsReadSource(text []byte) bool {
	lines := regexp.MustCompile(`\\\r?\n`).ReplaceAllString(string(text), " ")
	lines = regexp.MustCompile(`(?m)(^|\s)#.*$`).ReplaceAllString(lines, "")
	option := regexp.MustCompile(`^(-[a-zA-Z]|--[a-z-]+)[\s=]*(.*)$`)
	url, local := regexp.MustCompile(`\S+://\S*`), regexp.MustCompile(`^\.|/`)
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		isLocal := strings.Contains(line, "file:") || local.MatchString(url.ReplaceAllString(line, ""))
		if found := option.FindStringSubmatch(line); found != nil {
			switch found[1] {
			case "-r", "-c", "--requirement", "--constraint":
				isLocal = !isManifest(path.Clean(found[2]))
			case "-i", "--index-url", "--extra-index-url", "--no-index", "--pre", "--prefer-binary", "--require-hashes",
				"--only-binary", "--no-binary", "--trusted-host":
			default:
				return true
			}
		}
		if isLocal {
			return true
		}
	}
	return false
}

// hasLocalDependency reports whether a package names a directory as yarn and npm also accept it,
// without file:. Yarn copies it.
func hasLocalDependency(text []byte) bool {
	var manifest map[string]any
	if json.Unmarshal(text, &manifest) != nil {
		return true
	}
	local := regexp.MustCompile(`^(\.|/|~/)`)
	for _, key := range []string{"dependencies", "devDependencies", "optionalDependencies", "resolutions", "overrides"} {
		versions, _ := manifest[key].(map[string]any)
		for _, version := range versions {
			if at, isText := version.(string); isText && local.MatchString(at) {
				return true
			}
		}
	}
	return false
}

// hasInstallScript reports whether a package has a script that package managers run when they install
// what it depends on. It is assumed of one that cannot be read.
func hasInstallScript(text []byte) bool {
	var manifest struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(text, &manifest) != nil {
		return true
	}
	runs := regexp.MustCompile(`^(pre|post)?(install|prepare|prepublish|dependencies)$`)
	for script := range manifest.Scripts {
		if runs.MatchString(script) {
			return true
		}
	}
	return false
}
