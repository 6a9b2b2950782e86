// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"os"
	"path/filepath"
	"strings"
)

// writtenPlaces and readPlaces name variables by which tools find their files. Pulumi's
// images set them for a user of their own, who is not that of the pod: pulumi/pulumi-go
// has GOPATH=/go, and pulumi/pulumi XDG_CACHE_HOME=/root/.cache. Without the variables,
// the tools use the HOME of the run.
const (
	writtenPlaces = "GOPATH GOCACHE XDG_CACHE_HOME XDG_STATE_HOME"
	readPlaces    = "XDG_CONFIG_HOME XDG_DATA_HOME"
)

// dropForeignPlaces drops those that lead to where this user can do nothing. A template
// may well name a place that it has mounted.
func dropForeignPlaces(environ map[string]string) {
	for name := range strings.FieldsSeq(writtenPlaces) {
		if dir := firstOf(environ[name]); dir != "" && !isWritable(dir) {
			delete(environ, name)
		}
	}
	for name := range strings.FieldsSeq(readPlaces) {
		if dir := environ[name]; dir != "" && !isReadable(dir) && !isWritable(dir) {
			delete(environ, name)
		}
	}
}

// firstOf returns the first directory of a list, into which Go writes.
func firstOf(list string) string {
	first, _, _ := strings.Cut(list, string(filepath.ListSeparator))
	return first
}

func isWritable(dir string) bool {
	if os.MkdirAll(dir, 0o700) != nil {
		return false
	}
	file, err := os.CreateTemp(dir, ".pulumi-controller-*")
	if err != nil {
		return false
	}
	_ = file.Close()
	return os.Remove(file.Name()) == nil
}

func isReadable(dir string) bool {
	_, err := os.ReadDir(dir)
	return err == nil
}
