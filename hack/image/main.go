// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command image assembles the image of the controller. It writes an archive that
// containerd and Docker load, or directories that the Dockerfile copies. The contents are
// the same either way, and the same contents always have the same digest.
//
// It compiles nothing: the programs must be in a directory already.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// options is all that can be configured.
type options struct {
	arch     string
	bin      string
	packages string
	mirrors  string
	archive  string
	name     string
	root     string
	revision string
	// sbom is where the bill of materials goes, "" for nowhere.
	sbom string
	// program replaces the controller in the image, add is the directory of an additional
	// layer, and entrypoint is started instead of the controller.
	program, add, entrypoint string
	// created is the time of the image and of all files in it.
	created time.Time
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil // --help, which was printed
	}
	if err != nil {
		return err
	}
	layers, err := contents(ctx, o)
	if err != nil {
		return err
	}
	if o.root != "" {
		return writeTrees(o.root, layers, o.created)
	}
	image, err := newImage(o, layers)
	if err != nil {
		return err
	}
	if o.sbom != "" {
		digest, err := image.Digest()
		if err != nil {
			return err
		}
		if err := writeSBOM(o, layers, digest); err != nil {
			return err
		}
	}
	return writeArchive(o, image, out)
}

func parse(args []string) (options, error) {
	o := options{created: time.Unix(0, 0).UTC()}
	fs := flag.NewFlagSet("image", flag.ContinueOnError)
	fs.StringVar(&o.arch, "arch", runtime.GOARCH, "the architecture: amd64 or arm64")
	fs.StringVar(&o.bin, "bin", "bin", "the directory of the programs")
	fs.StringVar(&o.packages, "packages", "bin/packages", "the directory that keeps the packages that are downloaded")
	fs.StringVar(&o.mirrors, "mirrors", "", "the mirrors of Debian to download them from, separated by spaces, in place of those of this machine's apt")
	fs.StringVar(&o.archive, "o", "", "the archive to write")
	fs.StringVar(&o.name, "name", "ghcr.io/flux-pulumi/pulumi-controller:latest", "the name of the image in the archive")
	fs.StringVar(&o.root, "root", "", "the directory to write the contents of each layer to, in place of an archive")
	fs.StringVar(&o.revision, "revision", "", "the commit that the programs are built from")
	fs.StringVar(&o.sbom, "sbom", "", "the file to write a bill of materials of the image to, in SPDX 2.3 as JSON")
	fs.StringVar(&o.program, "program", "", "the static program to pack alone, in place of the controller and what that needs")
	fs.StringVar(&o.add, "add", "", "a directory whose contents are one more layer")
	fs.StringVar(&o.entrypoint, "entrypoint", "", "the command of the image, its words separated by spaces, in place of its own")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if (o.archive == "") == (o.root == "") || fs.NArg() != 0 {
		return o, errors.New("either -o or -root has to be given, and no argument")
	}
	// The convention of reproducible builds:
	// https://reproducible-builds.org/specs/source-date-epoch/
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return o, fmt.Errorf("SOURCE_DATE_EPOCH is no number of seconds: %w", err)
		}
		o.created = time.Unix(seconds, 0).UTC()
	}
	return o, nil
}
