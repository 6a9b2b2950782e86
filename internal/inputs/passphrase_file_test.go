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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

const passphraseFile = "PULUMI_CONFIG_PASSPHRASE_FILE"

func TestThePassphraseFileIsReadFromTheController(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "passphrase")
	g.Expect(os.WriteFile(file, []byte(" correct horse\n"), 0o600)).To(Succeed())
	stack := stackOf(refs{passphraseFile: literal(file)}, nil, nil)
	_, err := inputs.Resolve(context.Background(), readerOf(g, nil), stack, inputs.Options{})
	g.Expect(kindOf(err)).To(Equal("denied"))
	g.Expect(err).To(MatchError(And(HavePrefix("spec.envRefs.PULUMI_CONFIG_PASSPHRASE_FILE: "),
		ContainSubstring("set PULUMI_CONFIG_PASSPHRASE from a Secret, or run the controller with --allow-controller-refs"))))

	got, err := inputs.Resolve(context.Background(), readerOf(g, nil), stack, allowed())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Env).To(Equal(map[string]string{"PULUMI_CONFIG_PASSPHRASE": "correct horse"}), "as Pulumi reads it")
	g.Expect(got.Masks).To(Equal([]string{"correct horse"}))
	g.Expect(os.WriteFile(file, []byte("rotated"), 0o600)).To(Succeed())
	again, err := inputs.Resolve(context.Background(), readerOf(g, nil), stack, allowed())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Env).To(HaveKeyWithValue("PULUMI_CONFIG_PASSPHRASE", "rotated"))
	g.Expect(again.Digest).To(Equal(got.Digest), "what the digest says of a value could be tried out")
}

func TestAnOverriddenPassphraseFileIsNotRead(t *testing.T) {
	g := NewWithT(t)
	for name, other := range map[string]refs{
		"beside the passphrase": {passphraseFile: literal("/gone"), "PULUMI_CONFIG_PASSPHRASE": literal("")},
		"named by nothing":      {passphraseFile: literal("")},
	} {
		got, err := inputs.Resolve(context.Background(), readerOf(g, nil), stackOf(other, nil, nil), inputs.Options{})
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(got.Env).To(HaveLen(len(other)), name)
	}
}

func TestPassphraseFilesThatAreRefused(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	pipe, big := filepath.Join(dir, "CANARY-pipe"), filepath.Join(dir, "CANARY-big")
	g.Expect(syscall.Mkfifo(pipe, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(big, []byte(strings.Repeat("x", 1<<20+1)), 0o600)).To(Succeed())
	for path, want := range map[string]string{
		pipe:                            "it is not a regular file",
		"/dev/zero":                     "it is not a regular file",
		"/proc/self/environ":            "it describes processes of the machine",
		big:                             "it is longer than 1048576 bytes",
		filepath.Join(dir, "CANARY-no"): "no such file or directory",
		"CANARY":                        "must be absolute, because the working directory of the controller may change",
	} {
		stack := stackOf(nil, nil, nil)
		stack.Spec.EnvSecrets = []string{"named"}
		named := client.Object(secret("apps", "named", "uid-1", map[string]string{passphraseFile: path}))
		_, err := inputs.Resolve(context.Background(), readerOf(g, nil, named), stack, allowed())
		g.Expect(err).To(MatchError(And(HavePrefix("spec.envSecrets[0] (key PULUMI_CONFIG_PASSPHRASE_FILE): the "), HaveSuffix(want))), path)
		g.Expect(err.Error()).NotTo(ContainSubstring("CANARY"))
		g.Expect(kindOf(err)).To(Equal("unusable"), path)
	}
}
