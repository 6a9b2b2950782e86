// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/ulikunitz/xz"
)

// debianPackage is the content of a .deb.
type debianPackage struct {
	// control is the metadata of the package.
	control []byte
	// files are the files it installs, by path.
	files map[string][]byte
}

// readPackage reads a .deb: an ar archive of two compressed tar archives.
func readPackage(data []byte) (debianPackage, error) {
	members, err := readAr(data)
	if err != nil {
		return debianPackage{}, err
	}
	control, err := readTar(members["control.tar.xz"])
	if err != nil {
		return debianPackage{}, fmt.Errorf("control.tar.xz: %w", err)
	}
	files, err := readTar(members["data.tar.xz"])
	if err != nil {
		return debianPackage{}, fmt.Errorf("data.tar.xz: %w", err)
	}
	return debianPackage{control: control["control"], files: files}, nil
}

const (
	arMagic  = "!<arch>\n"
	arHeader = 60
)

// readAr reads the members of an ar archive.
func readAr(data []byte) (map[string][]byte, error) {
	rest, ok := bytes.CutPrefix(data, []byte(arMagic))
	if !ok {
		return nil, errors.New("it is no ar archive")
	}
	members := map[string][]byte{}
	for len(rest) >= arHeader {
		name := strings.TrimRight(string(rest[:16]), " /")
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		rest = rest[arHeader:]
		if err != nil || size < 0 || size > len(rest) {
			return nil, fmt.Errorf("member %q has no size that can be", name)
		}
		members[name] = rest[:size]
		rest = rest[min(size+size%2, len(rest)):] // members start at even offsets
	}
	return members, nil
}

// readTar reads the files of a compressed tar archive.
func readTar(data []byte) (map[string][]byte, error) {
	plain, err := xz.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if files[path.Clean(header.Name)], err = io.ReadAll(archive); err != nil {
			return nil, err
		}
	}
}
