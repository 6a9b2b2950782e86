// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// organization is the only one that a backend without accounts knows.
const organization = "organization"

// StackName is the name of a stack as a person writes it: Org and Project may
// be empty.
type StackName struct {
	Org, Project, Stack string
}

// ParseStackName reads <stack>, <org>/<stack> or <org>/<project>/<stack>. The
// rules are Pulumi's, except that Pulumi answers a name of four parts with
// "a stack name may not be empty".
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
			"stack name %q has %d parts: it is <stack>, <org>/<stack> or <org>/<project>/<stack>", text, len(parts))
	}
	if err := name.check(len(parts)); err != nil {
		return StackName{}, fmt.Errorf("stack name %q: %w", text, err)
	}
	return name, nil
}

func (n StackName) check(parts int) error {
	if _, err := tokens.ParseStackName(n.Stack); err != nil {
		return err
	}
	if parts > 1 && !tokens.IsName(n.Org) {
		return errors.New("an organization name may only contain alphanumerics, hyphens, underscores, or periods")
	}
	if parts > 2 {
		return tokens.ValidateProjectName(n.Project)
	}
	return nil
}

// Qualify gives the name that the CLI is called with, for a project on a
// backend. It refuses what Pulumi refuses: a project other than the program's,
// and on a backend without accounts an organization.
func (n StackName) Qualify(backend, project string) (string, error) {
	if n.Project != "" && n.Project != project {
		return "", fmt.Errorf("stack %s belongs to the project %q, but the program is the project %q: "+
			"the name in Pulumi.yaml and the one in the stack's name must be the same", n, n.Project, project)
	}
	if err := n.CheckOrganization(backend); err != nil {
		return "", err
	}
	if isDIY(backend) {
		return strings.Join([]string{organization, project, n.Stack}, "/"), nil
	}
	if n.Org == "" {
		// Only Pulumi Cloud knows the default organization of the account.
		return n.Stack, nil
	}
	return strings.Join([]string{n.Org, project, n.Stack}, "/"), nil
}

// CheckOrganization refuses an organization on a backend without accounts.
func (n StackName) CheckOrganization(backend string) error {
	if isDIY(backend) && n.Org != "" && n.Org != organization {
		return fmt.Errorf("stack %s: organization name must be 'organization' on the backend %s, "+
			"which keeps no accounts", n, scheme(backend))
	}
	return nil
}

// String is the name as it was written.
func (n StackName) String() string {
	parts := slices.DeleteFunc([]string{n.Org, n.Project, n.Stack}, func(s string) bool { return s == "" })
	return strings.Join(parts, "/")
}

// isDIY tells the backends that are a file or object store, which Pulumi calls
// do-it-yourself, from Pulumi Cloud.
func isDIY(backend string) bool {
	switch scheme(backend) {
	case "file", "s3", "gs", "azblob", "postgres":
		return true
	}
	return false
}

// scheme is "" for what is no URL: all of that may be secret.
func scheme(backend string) string {
	before, _, isURL := strings.Cut(backend, "://")
	if !isURL {
		return ""
	}
	return before
}
