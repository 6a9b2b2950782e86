// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// lockFiles are the files in which package managers note the versions that they install.
// npm install, yarn, bun, uv sync and go mod tidy update one that does not fit the program
// without a word.
func lockFiles() []string {
	return []string{
		"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
		"uv.lock", "poetry.lock", "go.mod", "go.sum",
	}
}

// maxLockFile bounds the lock files that are compared. Bigger ones are not.
const maxLockFile = 32 << 20

// lockedVersions are the versions that each lock file names, by its path.
type lockedVersions map[string]map[string]bool

// readLocks reads the lock files of a program. One that cannot be read is left out.
func readLocks(root *os.Root, seen sourced) lockedVersions {
	all := lockedVersions{}
	for _, name := range lockFiles() {
		file := seen.nearest[name]
		if file == "" {
			continue
		}
		if text, err := readWithin(root, file, maxLockFile); err == nil {
			all[file] = versionsIn(name, text)
		}
	}
	return all
}

// changedSince lists the lock files that name a version which they did not name before.
func (l lockedVersions) changedSince(before lockedVersions) []string {
	var changed []string
	for file, now := range l {
		was := before[file]
		isNew := func(version string) bool { return !was[version] }
		if was != nil && slices.ContainsFunc(slices.Collect(maps.Keys(now)), isNew) {
			changed = append(changed, file)
		}
	}
	slices.Sort(changed)
	return changed
}

// versionsIn are the versions that a lock file names. For a format that package managers
// write again only when something has changed, it is the text as a whole. That is not so for
// yarn.lock: npm writes the addresses of its own registry to one that lies beside its own file.
func versionsIn(name string, text []byte) map[string]bool {
	switch path.Base(name) {
	case "package-lock.json", "npm-shrinkwrap.json":
		return versionsOfNpm(text)
	case "yarn.lock":
		return matchesIn(regexp.MustCompile(`(?m)^"?(@?[^\s"@]+)@.*:\r?\n\s+version:? "?([^\s"]+)`), text)
	case "go.mod":
		return matchesIn(regexp.MustCompile(`(?m)^\s*(?:require\s+)?([^\s/]\S+ v\d\S*)`), text)
	case "go.sum":
		return matchesIn(regexp.MustCompile(`(?m)^(\S+ \S+ h1:\S+)`), text)
	}
	return map[string]bool{fmt.Sprintf("%x", sha256.Sum256(text)): true}
}

// versionsOfNpm ignores what versions of npm write differently. It is nil for the format of
// npm 6, which later ones rewrite. There are none in a text that is no JSON, such as that of a
// merge conflict: npm installs what it likes and says nothing.
func versionsOfNpm(text []byte) map[string]bool {
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			Link    bool   `json:"link"`
		} `json:"packages"`
		Dependencies map[string]any `json:"dependencies"`
	}
	versions := map[string]bool{}
	if json.Unmarshal(text, &lock) != nil {
		return versions
	}
	if lock.Packages == nil && lock.Dependencies != nil {
		return nil
	}
	for name, locked := range lock.Packages {
		if strings.Contains(name, "node_modules/") && !locked.Link {
			versions[name+" "+locked.Version] = true
		}
	}
	return versions
}

func matchesIn(pattern *regexp.Regexp, text []byte) map[string]bool {
	found := map[string]bool{}
	for _, match := range pattern.FindAllSubmatch(text, -1) {
		found[string(bytes.Join(match[1:], []byte(" ")))] = true
	}
	return found
}
