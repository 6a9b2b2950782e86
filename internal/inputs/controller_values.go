// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fluxcd/pkg/runtime/acl"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Controller is what the references of the types Env and FS read: the controller
// itself. Whoever may write a Stack can then read all that the controller can.
type Controller struct {
	// LookupEnv finds a variable of the environment.
	LookupEnv func(name string) (string, bool)
}

// value returns what the reference stands for. Without a controller to read it is
// refused.
func (c *Controller) value(ref reference) (value, error) {
	if c == nil {
		return value{}, fmt.Errorf("%s: %w", ref.field, acl.AccessDeniedError(fmt.Sprintf(
			"type %s reads the controller itself, which has not been allowed: use type Secret, or run the controller with --allow-controller-refs",
			ref.ref.Type)))
	}
	if ref.ref.Type == v1.ResourceRefEnv {
		name := ref.ref.Env.Name
		text, ok := c.LookupEnv(name)
		if !ok {
			return value{}, &UnusableError{ref.field, fmt.Sprintf("the controller has no environment variable %q", name)}
		}
		return value{text: text, controller: "Env:" + name, hidden: true}, nil
	}
	path := ref.ref.FileSystem.Path
	text, err := readFile(path)
	if err != nil {
		return value{}, &UnusableError{ref.field, fmt.Sprintf("the file %q of the controller cannot be used: %s", path, err)}
	}
	return value{text: text, controller: "FS:" + filepath.Clean(path), hidden: true}, nil
}

// reasonOf is the error without the path, which is told already.
func reasonOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
