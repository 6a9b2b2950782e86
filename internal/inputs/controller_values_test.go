// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// allowed returns options that allow reading a controller with one variable.
func allowed() inputs.Options {
	return inputs.Options{Controller: &inputs.Controller{LookupEnv: func(name string) (string, bool) {
		return "token-of-the-controller", name == "TOKEN"
	}}}
}

func TestValuesOfTheControllerAreSecrets(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "data"), []byte("in-a-file\n"), 0o600)).To(Succeed())
	g.Expect(os.Symlink("data", filepath.Join(dir, "link"))).To(Succeed(), "as the volume of a Secret has them")
	stack := stackOf(refs{"A": fromEnv("TOKEN"), "B": fromFile(filepath.Join(dir, "link"))}, refs{"pw": fromEnv("TOKEN")}, nil)
	got, err := inputs.Resolve(context.Background(), readerOf(g, nil), stack, allowed())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Env).To(Equal(map[string]string{"A": "token-of-the-controller", "B": "in-a-file\n"}))
	g.Expect(got.Secrets).To(Equal(map[string]string{"pw": "token-of-the-controller"}))
	g.Expect(got.Masks).To(Equal([]string{"token-of-the-controller", "in-a-file\n"}))

	g.Expect(os.WriteFile(filepath.Join(dir, "data"), []byte("rotated"), 0o600)).To(Succeed())
	again, err := inputs.Resolve(context.Background(), readerOf(g, nil), stack, allowed())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Env).To(HaveKeyWithValue("B", "rotated"))
	g.Expect(again.Digest).To(Equal(got.Digest), "what the digest says of a value could be tried out")
}

// What was approved is what the update does with the values that it had.
func TestAnotherValueOfTheControllerIsAnotherPlan(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "data")
	sum := func(content, key string, env, config refs) string {
		g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
		got, err := inputs.Resolve(context.Background(), readerOf(g, nil), stackOf(env, config, nil), allowed())
		g.Expect(err).NotTo(HaveOccurred())
		return inputs.PlanInputs{Digest: "sha256:00", Controller: got.Controller}.Sum(key)
	}
	fromController, literal := refs{"A": fromFile(path)}, refs{"A": {Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: "x"}}}
	first := sum("one", "key", fromController, nil)
	g.Expect(first).To(And(MatchRegexp("^sha256:[0-9a-f]{64}$"), Equal(sum("one", "key", fromController, nil))))
	g.Expect(map[string]bool{
		first: true, sum("two", "key", fromController, nil): true, sum("one", "other", fromController, nil): true,
		sum("one", "key", nil, fromController): true, sum("one", "key", refs{"A": fromEnv("TOKEN")}, nil): true,
	}).To(HaveLen(5), "the key is needed to find out a value")
	g.Expect(sum("one", "key", literal, nil)).To(Equal("sha256:00"), "the digest has all other values")
}

func TestFilesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	g := NewWithT(t)
	g.Expect(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "big"), []byte(strings.Repeat("x", 1<<20+1)), 0o600)).To(Succeed())
	g.Expect(os.Symlink("/proc/self/environ", filepath.Join(dir, "environ"))).To(Succeed())
	for path, want := range map[string]string{
		filepath.Join(dir, "pipe"):    "it is not a regular file",
		dir:                           "it is not a regular file",
		"/dev/zero":                   "it is not a regular file",
		filepath.Join(dir, "big"):     "it is longer than 1048576 bytes",
		filepath.Join(dir, "gone"):    "no such file or directory",
		"/proc/self/environ":          "it describes processes of the machine",
		"/proc/1/../self/environ":     "it describes processes of the machine",
		filepath.Join(dir, "environ"): "it describes processes of the machine",
	} {
		_, err := inputs.Resolve(context.Background(), readerOf(g, nil), stackOf(refs{"A": fromFile(path)}, nil, nil), allowed())
		g.Expect(err).To(MatchError(And(HavePrefix("spec.envRefs.A: the file"), HaveSuffix(want))), path)
		g.Expect(kindOf(err)).To(Equal("unusable"), path)
	}
	_, err := inputs.Resolve(context.Background(), readerOf(g, nil), stackOf(refs{"A": fromEnv("GONE")}, nil, nil), allowed())
	g.Expect(err).To(MatchError(`spec.envRefs.A: the controller has no environment variable "GONE"`))
}
