// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// withoutSidecars stops a file backend from writing .attrs files, which nothing reads.
// Unlike the state files they are not written atomically: a CLI killed at that moment
// left an empty one, and no CLI could read the state again ("failed to load checkpoint:
// EOF").
func withoutSidecars(backend string) string {
	location, query, _ := strings.Cut(backend, "?")
	if grammar.Scheme(backend) != "file" || strings.Contains(query, "metadata=") {
		return backend
	}
	if query != "" {
		query += "&"
	}
	return location + "?" + query + "metadata=skip"
}

// toolPath lists the directories of the PATH of a run.
func (d *Driver) toolPath() []string { return append([]string{d.Bin}, d.Path...) }

// environment is the complete environment of a run's processes. It is built from
// scratch, so that none of the controller's own variables reach a program.
func (d *Driver) environment(dir Directory, r run.Run) []string {
	return d.environmentFrom(dir, r, d.PassEnv)
}

// packEnvironment is that of a policy pack.
func (d *Driver) packEnvironment(dir Directory, of run.Run) []string {
	return d.environmentFrom(dir, of, d.PackEnv)
}

func (d *Driver) environmentFrom(dir Directory, r run.Run, passed map[string]string) []string {
	env := map[string]string{
		// Pulumi writes its user's name into its locks. If this is not set and the user
		// has no entry in /etc/passwd, like a UID assigned by the cluster, it cannot
		// make a lock. An entry takes precedence.
		"USER":     strconv.Itoa(os.Getuid()),
		"LANG":     "C.UTF-8",
		"NO_COLOR": "1",
		// The check needs the network, and its answer would be noise in the output.
		"PULUMI_SKIP_UPDATE_CHECK": "true",
		// The same goes for the tools that install a program's dependencies.
		"npm_config_update_notifier": "false", "npm_config_fund": "false", "npm_config_audit": "false",
		"PIP_DISABLE_PIP_VERSION_CHECK": "1",
		"GRADLE_USER_HOME":              filepath.Join(dir.home(), ".gradle"),
		// A fresh workspace has no secrets provider of its own: keep the state's.
		"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER": "true",
		// Saves listing the bucket for stacks in the legacy layout, which Pulumi
		// refuses anyway.
		"PULUMI_DIY_BACKEND_NO_LEGACY_WARNING": "1",
	}
	if d.NoPluginDownload {
		env["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
	}
	maps.Copy(env, passed)
	maps.Copy(env, r.Env)
	if !strings.Contains(env["MAVEN_OPTS"], "-Duser.home=") {
		// Java takes its home from /etc/passwd: that of nobody is /nonexistent.
		env["MAVEN_OPTS"] = strings.TrimSpace("-Duser.home=" + dir.home() + " " + env["MAVEN_OPTS"])
	}
	if usesDefaultOfCloud(r) {
		// The fallback would keep the state's provider, which is to be changed.
		env["PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER"] = "false"
	}
	maps.Copy(env, map[string]string{
		"PATH":        strings.Join(d.toolPath(), ":"),
		"HOME":        dir.home(),
		"TMPDIR":      dir.temp(),
		"PULUMI_HOME": dir.pulumiHome(),
		// Without it a program's Pulumi.yaml could move the state elsewhere.
		grammar.BackendVariable: withoutSidecars(r.Backend),
		// The CLI ignores --event-log without it.
		"PULUMI_DEBUG_COMMANDS": "true",
		// Nor one on the PATH, or one that a program writes into the home of Pulumi.
		grammar.CredentialHelperVariable: "none",
		grammar.RunVariable:              r.ID,
	})
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
