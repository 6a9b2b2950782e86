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

// installing is what is told while the dependencies of a program are installed, and
// begins what is told when that has failed.
const installing = run.Installing

// yamlRuntime is that of programs in Pulumi YAML.
const yamlRuntime = "yaml"

// needs are what a program says of what it depends on.
type needs struct {
	runtime string
	// built says that the program names an executable of its own that is there already.
	built bool
	// packages says that Pulumi.yaml names packages, whose SDKs are generated.
	packages bool
}

// needsOf reads them off the project.
func needsOf(project *workspace.Project) needs {
	binary, _ := project.Runtime.Options()["binary"].(string)
	runtime := project.Runtime.Name()
	return needs{
		runtime:  runtime,
		built:    binary != "" && slices.Contains([]string{"go", "dotnet", "java"}, runtime),
		packages: len(project.Packages) > 0,
	}
}

// errPackages is why packages are not installed where nothing is to be downloaded:
// pulumi install downloads their plugins, whatever the environment says.
var errPackages = errors.New("the project file of the program names packages, whose plugins would be downloaded, which --acquire-plugins=false forbids: " +
	"keep the SDKs that pulumi install makes of them in the source, and remove packages from Pulumi.yaml")

// needsInstall decides whether the dependencies of a program are installed before it is
// run.
//
// A program in YAML has none but packages: the CLI would take 0.4 s to find that out. Those
// that it can have nothing downloaded for may be in its source, where the language host
// finds them. A program that is built needs no tools of its language, which an image may
// well do without.
func needsInstall(r run.Run, n needs, noDownload bool) (bool, error) {
	switch {
	case !r.RunsProgram(), n.runtime == yamlRuntime && (!n.packages || noDownload):
		return false, nil
	case n.packages && noDownload:
		return false, errPackages
	}
	return n.packages || !n.built, nil
}

// install installs the dependencies of the program, once in a run. It comes before
// anything that is made in a backend: where it fails there is nothing to be cleaned up.
//
// Plugins are left to the engine, which gets those that are really used, and none where
// none may be downloaded.
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
