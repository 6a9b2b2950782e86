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

// Controller resolves references of the types Env and FS, which read from the controller
// itself. With it, whoever can write a Stack can read everything that the controller can.
type Controller struct {
	// LookupEnv looks up an environment variable of the controller.
	LookupEnv func(name string) (string, bool)
}

// value resolves a reference. A nil Controller refuses all of them.
func (c *Controller) value(ref reference) (value, error) {
	if c == nil {
		return value{}, &ReadError{ref.field, acl.AccessDeniedError(fmt.Sprintf(
			"type %s reads from the controller itself, which is not allowed: use type Secret, or run the controller with --allow-controller-refs",
			ref.ref.Type))}
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

// reasonOf strips the path from an error, as the caller's message already has it.
func reasonOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
