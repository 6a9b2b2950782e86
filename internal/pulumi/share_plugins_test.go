// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// sharing is a session with something to share, whose CLI does not end.
func sharing(t *testing.T) *session {
	g := NewWithT(t)
	kernel := sandbox.ThisKernel()
	if !kernel.Usable() {
		t.Skip(kernel.Missing())
	}
	bin := t.TempDir()
	script := "#!/bin/sh\nsetsid sleep 60 </dev/null >/dev/null 2>&1 &\nexec sleep 60\n"
	g.Expect(os.WriteFile(filepath.Join(bin, "pulumi"), []byte(script), 0o755)).To(Succeed())
	d := &Driver{
		Bin: bin, Path: []string{"/usr/bin", "/bin"}, Cache: t.TempDir(), Grace: Grace{Kill: time.Second},
		Sandbox: sandbox.New(kernel, []string{bin}, nil, nil),
	}
	s := &session{driver: d, dir: Directory(t.TempDir()), run: run.Run{ID: t.Name()}, mask: mask.New(nil), log: func(line string) { t.Log(line) }}
	s.events = &events{mask: s.mask}
	g.Expect(errorsOf(os.MkdirAll(d.sharedPlugins(), 0o700), os.MkdirAll(d.sharedSchemas(), 0o700))).To(BeEmpty())
	writeTree(t, s.dir.plugins(), map[string]string{"resource-a-v1.0.0/x": "", "resource-b-v1.0.0/x": ""})
	t.Cleanup(s.endLeftovers)
	return s
}

func errorsOf(all ...error) (found []error) {
	for _, err := range all {
		if err != nil {
			found = append(found, err)
		}
	}
	return found
}

func TestARunThatIsOverSaysNothingAboutWhatCanBeShared(t *testing.T) {
	for name, ending := range map[string]func(context.Context) (context.Context, func()){
		"cancelled": func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			timer := time.AfterFunc(500*time.Millisecond, func() { cancel(run.ErrCancelled) })
			return ctx, func() { timer.Stop(); cancel(nil) }
		},
		"over its time": func(ctx context.Context) (context.Context, func()) {
			return context.WithTimeout(ctx, 500*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := sharing(t)
			ctx, done := ending(t.Context())
			defer done()
			s.share(ctx)
			g.Expect(s.driver.unshared()).NotTo(BeADirectory(), "it would not be tried again for hours")
			g.Expect(process.CountMarked(markOf(s.run.ID))).To(BeZero(), "no provider is left either")
		})
	}
}

func TestWhatThereIsNoTimeForIsNotTriedAgainAtOnce(t *testing.T) {
	g := NewWithT(t)
	s := sharing(t)
	limited, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, errTooSlow)
	defer cancel()
	s.shareEach(t.Context(), s.wantedPlugins(), pluginName.dir, func(plugin pluginName) error { return s.sharePlugin(limited, plugin) })
	g.Expect(s.wantedPlugins()).To(BeEmpty())
	g.Expect(os.ReadDir(s.driver.unshared())).To(HaveLen(2))
}
