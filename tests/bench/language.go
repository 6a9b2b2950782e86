// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

const (
	// valueKey is the configuration of programs in a language.
	valueKey = programName + ":value"

	// The languages of programs that are compared.
	typeScript = "typescript"
	golang     = "go"
)

// language is a language with a program, which exports what it greets as well as the value in its configuration.
type language struct {
	// name is that of the flag, title for people.
	name, title string
	// runtime is that of Pulumi.yaml, source the file with the program.
	runtime, source string
	// program is the text of that file, with the place of the greeting.
	program string
	// dependencies are the manifests and lock files.
	dependencies sources.Files
	// env is what runs of both sides have in their environment.
	env map[string]string
	// caches is what only bare Pulumi has there, below its directory: the controller has caches of its own.
	caches map[string]string
	// install puts the dependencies in place for bare Pulumi, installing says so in the report.
	install    []string
	installing string
	// close ends what serves the dependencies.
	close func()
}

// newLanguage prepares the language of a name. It is to be closed.
func newLanguage(name string) (language, error) {
	if name == golang {
		return newGo()
	}
	return newTypeScript()
}

func newTypeScript() (language, error) {
	registry := toolchain.NewRegistry("")
	dependencies, err := registry.PublishSDK()
	if err != nil {
		registry.Close()
		return language{}, fmt.Errorf("preparing programs in TypeScript, for which `make bin/nodejs` installs the packages: %w", err)
	}
	return language{
		name: typeScript, title: "TypeScript", runtime: "nodejs", source: "index.ts", dependencies: dependencies, close: registry.Close,
		install: []string{"npm", "ci", "--no-audit", "--no-fund"}, installing: "`npm ci`",
		program: `import * as pulumi from "@pulumi/pulumi";

export const greeting = "GREETING " + new pulumi.Config().require("value");
`,
	}, nil
}

func newGo() (language, error) {
	dependencies, err := toolchain.GoModule()
	if err != nil {
		return language{}, err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return language{}, fmt.Errorf("preparing programs in Go: %w", err)
	}
	return language{
		name: golang, title: "Go", runtime: "go", source: "main.go", dependencies: dependencies, close: func() {},
		env: map[string]string{
			"GOPROXY": "file://" + toolchain.GoDownloads(), "GOSUMDB": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0",
		},
		caches: map[string]string{"GOMODCACHE": "modules", "GOCACHE": "go-build"},
		// As the language host does it, so that this is what it finds in the cache.
		install:    []string{"go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", "../program", "."},
		installing: "`go build`",
		program: `package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		ctx.Export("greeting", pulumi.String("GREETING "+config.New(ctx, "").Require("value")))
		return nil
	})
}
`,
	}, nil
}

// files are those of the program with the greeting.
func (l language) files(greeting string) sources.Files {
	files := sources.Files{
		"Pulumi.yaml": "name: " + programName + "\nruntime: " + l.runtime + "\n",
	}
	maps.Copy(files, l.dependencies)
	maps.Copy(files, l.sources(greeting))
	return files
}

// sources are what a commit changes that leaves the dependencies alone.
func (l language) sources(greeting string) sources.Files {
	return sources.Files{l.source: strings.ReplaceAll(l.program, "GREETING", greeting)}
}

// bareEnv is what bare Pulumi has in its environment beside what any language has, with its caches in the directory.
func (l language) bareEnv(dir string) []string {
	var env []string
	for name, value := range l.env {
		env = append(env, name+"="+value)
	}
	for name, cache := range l.caches {
		env = append(env, name+"="+filepath.Join(dir, cache))
	}
	return env
}

// shown is what a program shows: its greeting, and the value in its configuration.
type shown struct{ greeting, value string }

func (s shown) String() string { return s.greeting + " " + s.value }
