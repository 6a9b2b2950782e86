// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// installing is the progress message while the dependencies are being installed, and
// the start of the message if that fails.
const installing = run.Installing

// yamlRuntime is the runtime of programs in Pulumi YAML.
const yamlRuntime = "yaml"

// needs describes the dependencies of a program.
type needs struct {
	runtime string
	// built is set if the program names a prebuilt executable.
	built bool
	// packages is set if Pulumi.yaml names packages, whose SDKs are generated.
	packages bool
}

// needsOf derives the needs from the project.
func needsOf(project *workspace.Project) needs {
	binary, _ := project.Runtime.Options()["binary"].(string)
	runtime := project.Runtime.Name()
	return needs{
		runtime:  runtime,
		built:    binary != "" && slices.Contains([]string{"go", "dotnet", "java"}, runtime),
		packages: len(project.Packages) > 0,
	}
}

// errPackages is why packages are not installed when downloads are forbidden: pulumi
// install downloads their plugins, whatever the environment says.
var errPackages = errors.New("the project file of the program names packages, whose plugins would be downloaded, which --acquire-plugins=false forbids: " +
	"keep the SDKs that pulumi install makes of them in the source, and remove packages from Pulumi.yaml")

// needsInstall decides whether to install a program's dependencies before running it.
//
// A YAML program has none but packages, and the CLI would take 0.4 s to find that out.
// When downloads are forbidden, its packages may be in the source, where the language
// host finds them. A prebuilt program does not need the tools of its language, which an
// image may lack.
func needsInstall(r run.Run, n needs, noDownload bool) (bool, error) {
	switch {
	case !r.RunsProgram(), n.runtime == yamlRuntime && (!n.packages || noDownload):
		return false, nil
	case n.packages && noDownload:
		return false, errPackages
	}
	return n.packages || !n.built, nil
}

// install installs the program's dependencies, once per run. It precedes any change in
// a backend, so that its failure leaves nothing to clean up.
//
// It leaves plugins to the engine, which downloads only those in use, and none if that
// is forbidden.
func (s *session) install(ctx context.Context) (exit, error) {
	needed, err := needsInstall(s.run, s.needs, s.driver.NoPluginDownload)
	if s.installed || !needed || err != nil {
		return exit{}, err
	}
	s.installing = true
	s.say(installing)
	s.tell(run.Progress{Waiting: installing})
	begun := time.Now()
	last, err := s.driver.execute(ctx, command{
		args: []string{"--non-interactive", "--color=never", "install", "--no-plugins"},
		dir:  s.program, env: s.env, pids: s.dir.pids(),
		stdout: s.dir.stdout(), stderr: s.dir.stderr(), atOnce: true,
		events: &follower{events: &events{mask: s.mask}, say: s.say},
	})
	if err != nil || last.code != 0 {
		return last, err
	}
	s.installing, s.installed = false, true
	s.say(fmt.Sprintf("installed the dependencies of the program in %s", time.Since(begun).Round(100*time.Millisecond)))
	s.tell(run.Progress{})
	return last, nil
}
