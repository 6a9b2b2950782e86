// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/console"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ready"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// The actions of the page, each of them that of a command.
const (
	actSuspend   = "suspend"
	actResume    = "resume"
	actReconcile = "reconcile"
	actPreview   = "preview"
	actCancel    = "cancel"
	actApprove   = "approve"
	actReject    = "reject"
)

// maxReason bounds the reason of a rejection, in bytes.
const maxReason = 1024

// pageCommands are the commands for the page.
type pageCommands struct {
	session *session
	api     client.WithWatch
	// fluxNamespace is that of the controller.
	fluxNamespace string
	// options are those of the controller.
	options  observe.Options
	followed followedRuns
}

// quiet returns a session whose messages and output are kept, and not printed.
func (p *pageCommands) quiet() (s *session, out, said *bytes.Buffer) {
	out, said = &bytes.Buffer{}, &bytes.Buffer{}
	env := p.session.Environment
	env.In, env.Out, env.Err, env.OutIsTerminal, env.ErrIsTerminal = strings.NewReader(""), out, said, false, false
	return &session{Environment: env, Console: console.New(said, false, nil), flags: p.session.flags, timeout: p.session.timeout}, out, said
}

// Act implements ui.Commands. The page shows what comes of it, so nothing is waited for.
func (p *pageCommands) Act(ctx context.Context, stack *v1.Stack, action string, request ui.Request) (string, error) {
	s, _, said := p.quiet()
	if err := s.act(ctx, p.api, stack, action, request); err != nil {
		return "", err
	}
	return strings.Join(texts(said.String(), "✔", "⚠️"), ". "), nil
}

func (s *session) act(ctx context.Context, api client.Client, stack *v1.Stack, action string, request ui.Request) error {
	switch action {
	case actSuspend, actResume:
		return s.setSuspendOfStack(ctx, api, stack, action == actSuspend)
	case actReconcile:
		if request.CheckDrift {
			_, err := s.askToCheckDrift(ctx, api, stack)
			return err
		}
		_, _, err := s.askToReconcile(ctx, api, stackTarget(stack), request.Force)
		return err
	case actPreview:
		if stack.Spec.Suspend {
			return ready.ErrSuspended
		}
		return s.askToPreview(ctx, api, stack, "", s.Now().Format(time.RFC3339Nano))
	case actCancel:
		return s.askToCancel(ctx, api, stack, request.Now)
	case actApprove, actReject:
		return s.decideShown(ctx, api, stack, action, request)
	}
	return ui.ErrNoPart
}

// decideShown approves or rejects exactly the plan that the page has shown.
func (s *session) decideShown(ctx context.Context, api client.Client, stack *v1.Stack, action string, request ui.Request) error {
	switch {
	case !planDigest.MatchString(request.Digest):
		return errors.New("the digest of the plan must be sha256: and 64 hexadecimal digits")
	case action == actApprove:
		return s.approve(ctx, api, stack, request.Digest, true)
	case strings.TrimSpace(request.Reason) == "":
		return errors.New("a reason is required")
	case len(request.Reason) > maxReason:
		return errors.New("the reason is too long")
	}
	return s.reject(ctx, api, stack, request.Digest, request.Reason)
}

// setSuspendOfStack suspends or resumes a Stack.
func (s *session) setSuspendOfStack(ctx context.Context, api client.Client, stack *v1.Stack, suspend bool) error {
	how := resuming
	if suspend {
		how = suspending
	}
	if err := s.setSuspendOf(ctx, api, cluster.Stack(), stackTarget(stack), how); err != nil {
		return err
	}
	s.Successf("%s %s", cluster.Stack().Singular, how.done)
	return nil
}

// texts returns the texts of the lines of a console that begin with one of the symbols.
func texts(lines string, symbols ...string) (found []string) {
	for line := range strings.Lines(lines) {
		for _, symbol := range symbols {
			if text, ok := strings.CutPrefix(line, symbol+" "); ok {
				found = append(found, strings.TrimSpace(text))
			}
		}
	}
	return found
}
