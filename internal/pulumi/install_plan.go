// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"path"
)

// installPlan is how the dependencies of a program are installed.
type installPlan struct {
	// nothing is set if there is nothing to install.
	nothing bool
	// tool is a command of the language that comes before pulumi install, in dir. No
	// arguments are no command.
	tool []string
	dir  string
	// suffices is set if nothing is left to install when that command succeeds.
	suffices bool
	// only is set if pulumi install could not do better when the command fails.
	only bool
}

// planInstall decides how to install what a program needs, and nothing else.
func planInstall(n needs, seen sourced) (installPlan, error) {
	switch {
	case n.packages:
		// Their SDKs are generated, and become dependencies of the program.
		_, err := nodeManager(n, seen)
		return installPlan{}, err
	case n.runtime == "go":
		return planGo(seen), nil
	case n.runtime == "python":
		return installPlan{nothing: n.needsNoPip(seen)}, nil
	case n.isNode():
		return planNode(n, seen)
	}
	return installPlan{}, nil
}

// planGo asks go whether go.mod and go.sum are complete, with which go build downloads what
// it needs. Only otherwise is there something to do for go mod tidy, which the language host
// calls. That one knows neither vendor directories nor workspaces: it would fail where go
// build does not.
func planGo(seen sourced) installPlan {
	if !seen.tools["go"] {
		return installPlan{} // the language host says so
	}
	return installPlan{
		tool: []string{"go", "list", "-deps", "-f", "{{if false}}{{end}}", "."}, dir: seen.dir, suffices: true,
		only: seen.nearest["vendor/modules.txt"] != "" || seen.nearest["go.work"] != "",
	}
}

// needsNoPip reports whether a program in Python uses the packages of its image alone. The
// language host would update pip nevertheless, for which it needs a registry.
func (n needs) needsNoPip(seen sourced) bool {
	isPip := n.manager == "pip" || (n.manager == "" && seen.nearest["uv.lock"] == "" && seen.nearest["poetry.lock"] == "")
	return isPip && n.virtualenv == "" && path.Dir(seen.nearest["requirements.txt"]) != seen.dir
}

// planNode has npm restore the links in a node_modules that comes with the source: artifacts
// have none, and npm downloads each package again whose commands are not in .bin. The other
// package managers do without them.
func planNode(n needs, seen sourced) (installPlan, error) {
	if seen.nearest["package.json"] == "" && seen.nearest["package.yaml"] == "" && (seen.nearest[sdkModule] != "" || seen.sdk) {
		return installPlan{nothing: true}, nil
	}
	manager, err := nodeManager(n, seen)
	if err != nil || manager != "npm" || seen.nearest["node_modules"] == "" || !seen.tools["npm"] {
		return installPlan{}, err
	}
	return installPlan{tool: []string{"npm", "rebuild", "--ignore-scripts"}, dir: path.Dir(seen.nearest["node_modules"])}, nil
}

// nodeLocks are the lock files of the package managers of Node.js, in the order in which the
// language host looks for them.
var nodeLocks = []struct{ file, manager string }{
	{"yarn.lock", "yarn"}, {"pnpm-lock.yaml", "pnpm"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
	{"package-lock.json", "npm"}, {"npm-shrinkwrap.json", "npm"},
}

// nodeManager returns the package manager that the language host chooses. If that of a lock
// file is missing, the host takes npm, which installs whatever is newest: that is an error.
func nodeManager(n needs, seen sourced) (string, error) {
	if !n.isNode() || n.runtime == "bun" || (n.manager != "" && n.manager != "auto") {
		return n.manager, nil // the host insists on it
	}
	var err error
	for _, lock := range nodeLocks {
		switch {
		case seen.nearest[lock.file] == "":
		case seen.tools[lock.manager] || lock.manager == "npm":
			return lock.manager, nil
		case err == nil:
			err = fmt.Errorf("%s is in the source, but there is no %s where the program runs, and npm would install other versions "+
				"than it names: use an image with %s, or set packagemanager to npm in the options of runtime in Pulumi.yaml",
				seen.nearest[lock.file], lock.manager, lock.manager)
		}
	}
	return "npm", err
}

func (n needs) isNode() bool { return n.runtime == "nodejs" || n.runtime == "bun" }

// errNoGo is why a prebuilt program does not run: the language host calls go to find out
// which plugins the program needs, and the run would fail after the stack was created.
var errNoGo = errors.New("there is no go where the program runs, and the language host needs it for a prebuilt program too: use an image with Go")
