// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Shared is a control plane for all tests of a package, each in namespaces of its own: a start costs more processor time
// than most tests. Stop is for TestMain.
type Shared struct {
	// CRDPaths returns the directories of the CRDs to install. Nil installs none.
	CRDPaths func() ([]string, error)

	once  sync.Once
	dir   string
	plane *ControlPlane
	err   error
}

// Start starts it for the first test that needs it, and returns the same one to all others.
func (s *Shared) Start() (*ControlPlane, error) {
	s.once.Do(func() { s.err = s.start() })
	return s.plane, s.err
}

func (s *Shared) start() (err error) {
	var paths []string
	if s.CRDPaths != nil {
		if paths, err = s.CRDPaths(); err != nil {
			return err
		}
	}
	if s.dir, err = os.MkdirTemp("", "controlplane"); err != nil {
		return fmt.Errorf("making the directory of the control plane: %w", err)
	}
	s.plane, err = Start(context.Background(), Options{Dir: s.dir, CRDPaths: paths})
	return err
}

// Stop ends it, if a test has started it, and removes its files.
func (s *Shared) Stop() error {
	var errs []error
	if s.plane != nil {
		errs = append(errs, s.plane.Stop())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
