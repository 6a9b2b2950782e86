// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"crypto/sha256"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// authenticates finds the names of variables and settings that authenticate.
var authenticates = regexp.MustCompile(`TOKEN|AUTH|PASS|SECRET|KEY|CRED|USER|EMAIL`)

// userinfo finds the users and the passwords of URLs.
var userinfo = regexp.MustCompile(`://[^/@,|\s]*@`)

// steersInstallation reports whether a variable decides what a package manager installs. Those
// that authenticate do not.
func steersInstallation(name string) bool {
	upper := strings.ToUpper(name)
	if slices.Contains([]string{"NPM_CONFIG_USERCONFIG", "PIP_USER", "PYTHONUSERBASE"}, upper) {
		return true // they authenticate no user
	}
	if authenticates.MatchString(upper) {
		return false
	}
	return regexp.MustCompile(`^(NPM_CONFIG_|PNPM_|YARN_|BUN_|PIP_|UV_|POETRY_|COREPACK_)|` +
		`^(NODE_ENV|NODE_OPTIONS|NODE_PATH|CI|PYTHONPATH|PYTHONHOME|PYTHONPYCACHEPREFIX|PULUMI_PREFER_YARN|` + pythonCommand + `)$`).MatchString(upper)
}

// withoutUserinfo drops the users and the passwords of URLs.
func withoutUserinfo(value string) string {
	return userinfo.ReplaceAllString(value, "://")
}

// addVariables adds the variables that steer an installation to the key, and the files that they
// name. It reports whether one of them has an installation read the source.
func (i installation) addVariables(root *os.Root, k keyHash) (readsMore bool) {
	for _, variable := range i.env {
		name, value, _ := strings.Cut(variable, "=")
		if !steersInstallation(name) {
			continue
		}
		k.add("variable", name, withoutUserinfo(value))
		readsMore = readsMore || searchesSource(name, value)
		for word := range strings.FieldsSeq(value) {
			if filepath.IsAbs(word) {
				addSettingsOf(word, k)
				continue
			}
			readsMore = readsMore || i.hasFile(root, word)
		}
	}
	return readsMore
}

// searchesSource reports whether a variable has the tools look for code in the source.
func searchesSource(name, value string) bool {
	switch strings.ToUpper(name) {
	case "NODE_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX":
		isRelative := func(dir string) bool { return !filepath.IsAbs(dir) }
		return value != "" && slices.ContainsFunc(filepath.SplitList(value), isRelative)
	case "NODE_OPTIONS", "NPM_CONFIG_NODE_OPTIONS":
		// Others, such as --require, may name a script without its extension.
		return strings.Contains(value, "config-file") || !regexp.MustCompile(`^(\s*--[a-z_-]+(=\d+)?)*\s*$`).MatchString(value)
	}
	return false
}

// hasFile reports whether a relative path names a file of the source, from one of the directories in
// which package managers run.
func (i installation) hasFile(root *os.Root, name string) bool {
	return slices.ContainsFunc([]string{".", strings.TrimLeft(i.dir, "/"), i.seen.dir}, func(dir string) bool {
		info, err := root.Stat(path.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// addSettings adds the settings that package managers have outside of the source to the key, as
// that of an image. The home of a run has none.
func (i installation) addSettings(k keyHash) {
	dirs := []string{"/etc/xdg"}
	for _, variable := range i.env {
		if name, value, _ := strings.Cut(variable, "="); name == "XDG_CONFIG_HOME" || name == "XDG_CONFIG_DIRS" {
			dirs = append(dirs, filepath.SplitList(value)...)
		}
	}
	names, files := []string{"pnpm/rc", "pnpm/config.yaml", ".bunfig.toml", "yarn/config"}, []string{"/etc/npmrc", "/etc/yarnrc", "/usr/local/share/.yarnrc"}
	if i.needs.runtime == "python" {
		names, files = []string{"pip/pip.conf", "uv/uv.toml", "pypoetry/config.toml"}, []string{"/etc/pip.conf", "/etc/uv/uv.toml"}
	} else if node, err := filepath.EvalSymlinks(findTool("node", i.tools)); err == nil {
		files = append(files, filepath.Join(filepath.Dir(filepath.Dir(node)), "etc", "npmrc"))
	}
	for _, dir := range dirs {
		for _, name := range names {
			files = append(files, filepath.Join(dir, name))
		}
	}
	for _, file := range files {
		addSettingsOf(file, k)
	}
}

// maxSettings bounds what is read line by line of a file of settings.
const maxSettings = 1 << 20

// addSettingsOf adds a file of settings to the key, without what authenticates. There may be none, or
// one that the tools cannot read either.
func addSettingsOf(name string, k keyHash) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }() // it is only read
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSettings))
	if err != nil {
		return
	}
	sum := sha256.New()
	for line := range strings.Lines(string(text)) {
		setting, _, isSet := strings.Cut(line, "=")
		if !isSet {
			setting, _, _ = strings.Cut(line, ": ")
		}
		if !authenticates.MatchString(strings.ToUpper(setting)) {
			_, _ = io.WriteString(sum, withoutUserinfo(line)) // a hash returns no error
		}
	}
	if _, err := io.Copy(sum, file); err != nil {
		return
	}
	k.add("settings", name, string(sum.Sum(nil)))
}
