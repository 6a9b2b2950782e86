// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// organization is the only organization on a backend without accounts.
const organization = "organization"

// StackName is the name of a stack as people write it: Org and Project may be empty.
type StackName struct {
	Org, Project, Stack string
}

// ParseStackName parses <stack>, <org>/<stack> or <org>/<project>/<stack>. The rules are
// Pulumi's, except that Pulumi answers a name of four parts with "a stack name may not be
// empty".
func ParseStackName(text string) (StackName, error) {
	parts := strings.Split(text, "/")
	name := StackName{Stack: parts[len(parts)-1]}
	switch len(parts) {
	case 1:
	case 2:
		name.Org = parts[0]
	case 3:
		name.Org, name.Project = parts[0], parts[1]
	default:
		return StackName{}, fmt.Errorf(
			"stack name %q has %d parts: it must be <stack>, <org>/<stack> or <org>/<project>/<stack>", text, len(parts))
	}
	if err := name.check(len(parts)); err != nil {
		return StackName{}, fmt.Errorf("stack name %q: %w", text, err)
	}
	return name, nil
}

func (n StackName) check(parts int) error {
	if err := checkStack(n.Stack); err != nil {
		return err
	}
	if isDots(n.Stack) || isDots(n.Org) || isDots(n.Project) {
		// A file backend would store it in the place of another stack.
		return errors.New("the names . and .. are not allowed for a stack, a project or an organization")
	}
	if parts > 1 && !isName(n.Org) {
		return errors.New("an organization name may only contain alphanumerics, hyphens, underscores, or periods")
	}
	if parts > 2 {
		return checkProject(n.Project)
	}
	return nil
}

// maxName bounds the names of stacks and projects in bytes.
const maxName = 100

func checkStack(name string) error {
	switch bad := notOfName(name); {
	case name == "":
		return errors.New("a stack name may not be empty")
	case len(name) > maxName:
		return fmt.Errorf("a stack name cannot exceed %d characters", maxName)
	case bad >= 0:
		return fmt.Errorf("a stack name may only contain alphanumerics, hyphens, underscores, or periods: "+
			"invalid character %q at position %d", name[bad], bad)
	}
	return nil
}

func checkProject(name string) error {
	switch {
	case name == "":
		return errors.New("project names may not be empty")
	case len(name) > maxName:
		return fmt.Errorf("project names are limited to %d characters", maxName)
	case !isName(name):
		return errors.New("project names may only contain alphanumerics, hyphens, underscores, and periods")
	}
	return nil
}

func isName(text string) bool { return text != "" && notOfName(text) < 0 }

// notOfName returns the index of the first byte that is not allowed in a name, or -1.
func notOfName(text string) int {
	for i, c := range []byte(text) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("_.-", rune(c)) {
			return i
		}
	}
	return -1
}

func isDots(name string) bool { return name == "." || name == ".." }

// Qualify returns the stack name to call the CLI with, for a project on a backend. Like
// Pulumi, it refuses a project other than the program's, and an organization on a backend
// without accounts.
func (n StackName) Qualify(backend, project string) (string, error) {
	if n.Project != "" && n.Project != project {
		return "", fmt.Errorf("stack %s belongs to the project %q, but the program is the project "+
			"%q: the name in Pulumi.yaml must match the project in the stack's name", n, n.Project, project)
	}
	if isDots(project) {
		return "", fmt.Errorf("stack %s: a project cannot be named . or .., because a file backend would store it in the directory of another one", n)
	}
	if err := n.CheckOrganization(backend); err != nil {
		return "", err
	}
	if IsDIY(backend) {
		return strings.Join([]string{organization, project, n.Stack}, "/"), nil
	}
	if n.Org == "" {
		// Only Pulumi Cloud knows the account's default organization.
		return n.Stack, nil
	}
	return strings.Join([]string{n.Org, project, n.Stack}, "/"), nil
}

// CheckOrganization refuses an organization on a backend without accounts.
func (n StackName) CheckOrganization(backend string) error {
	if IsDIY(backend) && n.Org != "" && n.Org != organization {
		return fmt.Errorf("stack %s: the organization must be 'organization' on the backend "+
			"%s, which has no accounts", n, Scheme(backend))
	}
	return nil
}

// String returns the name as it was written.
func (n StackName) String() string {
	parts := slices.DeleteFunc([]string{n.Org, n.Project, n.Stack}, func(s string) bool { return s == "" })
	return strings.Join(parts, "/")
}
