// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// pinned has a line for each package of Debian and architecture: its name, the
// architecture, its SHA-256 and its path in the archive.
//
//go:embed debian.txt
var pinned string

const (
	// aptConfiguration is where apt has its sources.
	aptConfiguration = "/etc/apt"
	// maxPackage is far above the size of the pinned packages.
	maxPackage = 16 << 20
	// downloadTimeout bounds one attempt at one place.
	downloadTimeout = time.Minute
)

// pin is a line of pinned.
type pin struct{ name, arch, sum, path string }

// findPin returns the pin of a package for an architecture.
func findPin(list, name, arch string) (pin, error) {
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) == 4 && fields[0] == name && fields[1] == arch {
			return pin{name: name, arch: arch, sum: fields[2], path: fields[3]}, nil
		}
	}
	return pin{}, fmt.Errorf("no package %s is pinned for %s", name, arch)
}

// fetchPackage reads a package from the cache, or downloads it. Either way it must match
// its pin.
func fetchPackage(ctx context.Context, o options, name string) (debianPackage, error) {
	p, err := findPin(pinned, name, o.arch)
	if err != nil {
		return debianPackage{}, err
	}
	kept := filepath.Join(o.packages, path.Base(p.path))
	data, err := os.ReadFile(kept)
	if err != nil || p.verify(data) != nil {
		places, err := mirrors(o.mirrors, aptConfiguration)
		if err != nil {
			return debianPackage{}, fmt.Errorf("downloading package %s: %w", name, err)
		}
		if data, err = p.download(ctx, places...); err != nil {
			return debianPackage{}, err
		}
		if err := keep(kept, data); err != nil {
			return debianPackage{}, err
		}
	}
	read, err := readPackage(data)
	if err != nil {
		return debianPackage{}, fmt.Errorf("reading package %s: %w", name, err)
	}
	return read, nil
}

func (p pin) verify(data []byte) error {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != p.sum {
		return fmt.Errorf("its SHA-256 is %x, not %s as pinned", sum, p.sum)
	}
	return nil
}

// download tries one place after the other.
func (p pin) download(ctx context.Context, places ...string) ([]byte, error) {
	var errs []error
	for _, place := range places {
		data, err := get(ctx, place+p.path)
		if err == nil {
			err = p.verify(data)
		}
		if err == nil {
			return data, nil
		}
		errs = append(errs, fmt.Errorf("downloading %s: %w", place+p.path, err))
	}
	return nil, errors.Join(errs...)
}

func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // read only
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, maxPackage))
}

// keep writes a file atomically, so that no other process reads half of it.
func keep(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(file), "part-")
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	if err := errors.Join(err, part.Close()); err != nil {
		return errors.Join(fmt.Errorf("keeping %s: %w", file, err), os.Remove(part.Name()))
	}
	return os.Rename(part.Name(), file)
}
