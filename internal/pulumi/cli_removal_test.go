// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// destroyed makes a stack of one thing, and destroys it. In between, once every resource is deleted and before the stack is
// removed, it calls meanwhile.
func (b beside) destroyed(meanwhile func() error) (run.Run, run.Result) {
	b.Helper()
	made := b.given(b.thing("value: x"))
	b.reports.found = func(_ context.Context, found run.Found) error {
		if found.Emptied {
			return meanwhile()
		}
		return nil
	}
	destroy := b.destroyOf(made)
	return destroy, b.do(b.Context(), destroy)
}

func (b beside) destroyOf(made run.Result) run.Run {
	destroy := b.destroy()
	destroy.Known, destroy.KnownBackend = made.Project, made.Backend
	return destroy
}

func TestAStackStaysUntilItIsNotedThatItIsEmpty(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	_, result := b.destroyed(func() error { return errors.New("no answer") })
	b.Expect(result.Outcome).To(Equal(run.Failed))
	b.Expect(result.Message).To(And(ContainSubstring("every resource is deleted"), ContainSubstring("no answer")))
	b.Expect(result.Interrupted).To(BeFalse(), "nothing is left to recover from")
	b.Expect(b.stackFile()).To(BeAnExistingFile())
	b.Expect(b.things()).To(BeZero())

	b.reports.found = nil
	result = b.do(t.Context(), b.destroyOf(result))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.stackFile()).NotTo(BeAnExistingFile())
}

func TestADestroyThatIsStoppedWhileItWaitsIsCancelled(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	made := b.given(b.thing("value: x"))
	ctx, stop := context.WithCancelCause(t.Context())
	b.reports.found = func(ctx context.Context, found run.Found) error {
		if !found.Emptied {
			return nil
		}
		stop(errors.New("shutdown"))
		return context.Cause(ctx)
	}
	result := b.do(ctx, b.destroyOf(made))
	b.Expect(result.Outcome).To(Equal(run.Cancelled), result.Message)
	b.Expect(result.Interrupted).To(BeFalse())
	b.Expect(b.stackFile()).To(BeAnExistingFile())
}

func TestAStackThatAnotherProcessRemovesCountsAsDestroyed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	b := newBeside(t)
	_, result := b.destroyed(func() error { return os.Remove(b.stackFile()) })
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
}

// The backend removes the stack, and its answer is lost.
func TestAStackThatMayBeRemovedIsRecoveredFrom(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	real, err := process.FindBin("pulumi")
	b.Expect(err).NotTo(HaveOccurred())
	b.replacing("stack rm", "'"+real+"' \"$@\"; echo 'error: connection reset by peer' >&2; exit 255")
	destroy, result := b.destroyed(func() error { return nil })
	b.Expect(result.Outcome).To(Equal(run.Failed))
	b.Expect(b.stackFile()).NotTo(BeAnExistingFile())
	b.Expect(result.Interrupted).To(BeTrue(), "as the stack may be gone: %s", result.Message)
	b.Expect(result.Emptied).To(BeTrue())

	recovery := b.recovery(destroy)
	recovery.Known, recovery.KnownBackend = destroy.Known, destroy.KnownBackend
	result = b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.Emptied).To(BeTrue())
}
