// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ready"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
)

// allowed returns what of that which makes sense now the API server lets the person do. Only it knows, as admission policies
// such as those of config/approvals may say more than roles: each action is done once in a way that stores nothing.
func (p *pageCommands) allowed(ctx context.Context, stack *v1.Stack) (view.May, error) {
	may, err := p.mayChange(ctx, stack)
	if err != nil || !may {
		return view.May{}, err
	}
	found := view.All().Now(stack)
	var group sync.WaitGroup
	var failures [6]error
	for i, asked := range []struct {
		into *bool
		ask  func() (bool, error)
	}{
		{&found.Reconcile, func() (bool, error) { return p.mayAct(ctx, stack, actReconcile) }},
		{&found.Preview, func() (bool, error) { return p.mayAct(ctx, stack, actPreview) }},
		{&found.Suspend, func() (bool, error) { return p.mayAct(ctx, stack, actSuspend) }},
		{&found.Resume, func() (bool, error) { return p.mayAct(ctx, stack, actResume) }},
		{&found.Cancel, func() (bool, error) { return p.mayAct(ctx, stack, actCancel) }},
		{&found.Approve, func() (bool, error) { return p.mayDecide(ctx, stack, words.Proposal(stack)) }},
	} {
		if *asked.into || asked.into == &found.Approve && found.Reject {
			group.Go(func() { *asked.into, failures[i] = asked.ask() })
		}
	}
	group.Wait()
	found.Reject = found.Approve
	return found, errors.Join(failures[:]...)
}

// mayChange reports whether the person may change the Stack, which all actions do.
func (p *pageCommands) mayChange(ctx context.Context, stack *v1.Stack) (bool, error) {
	return isAllowed(ctx, p.api, authorizationv1.ResourceAttributes{
		Group: v1.GroupVersion.Group, Resource: cluster.Stack().Plural, Verb: "patch", Namespace: stack.Namespace, Name: stack.Name,
	})
}

// mayDecide reports whether the person may decide on what the Stack proposes. Only the API server knows, as admission
// policies such as those of config/approvals may say more than roles: it is asked for an approval that it does not store.
func (p *pageCommands) mayDecide(ctx context.Context, stack *v1.Stack, of *v1.PlanStatus) (bool, error) {
	user, err := whoAmI(ctx, p.api)
	if err != nil {
		return false, err
	}
	object, err := stackTarget(stack).get(ctx, p.api)
	if err != nil {
		return false, err
	}
	err = mergePatch(ctx, client.NewDryRunClient(p.api), object, map[string]any{"metadata": map[string]any{"annotations": approvalOf(of.Digest)(user)}})
	return isAccepted(err)
}

// mayAct reports whether the API server would accept what an action writes.
func (p *pageCommands) mayAct(ctx context.Context, stack *v1.Stack, action string) (bool, error) {
	s, _, _ := p.quiet()
	err := s.act(ctx, client.NewDryRunClient(p.api), stack, action, ui.Request{})
	if errors.Is(err, ready.ErrSuspended) {
		return false, nil // since it was read
	}
	return isAccepted(err)
}

// isAccepted reports whether the API server has accepted a change that it was not to store. A webhook that answers no such
// question is asked when a person acts.
func isAccepted(err error) (bool, error) {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsUnauthorized(err), apierrors.IsRequestEntityTooLargeError(err):
		return false, nil
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run"):
		return true, nil
	}
	return err == nil, err
}
