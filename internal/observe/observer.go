// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/policy/packs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// Observer observes Stacks.
type Observer struct {
	// Cached reads from the cache.
	Cached client.Reader
	// APIReader reads from the API server, for what is not cached.
	APIReader client.Reader
	// Runner has the runs. Nil knows none.
	Runner Runner
	// Holder identifies this process in the records of its runs.
	Holder v1.RunHolder
	// Holders proves that other holders are gone. Nil proves nothing.
	Holders HolderProver
	// NamespaceEnds reports whether a namespace is being deleted, so that no run can start
	// in it. Nil if runs need nothing there.
	NamespaceEnds func(ctx context.Context, namespace string) (bool, error)
	// Sources resolves the artifact a Stack refers to.
	Sources SourceResolver
	// WatchSource watches a kind of source from now on. Nil watches none.
	WatchSource func(kind string) error
	// PackSources resolves the artifacts of policy packs, which may be in any namespace.
	PackSources SourceResolver
	// PackConfigs keeps the config of policy packs. Nil keeps nothing.
	PackConfigs *packs.Configs
	// WatchPolicySets watches PolicySets from now on, and returns false if there can be none.
	// WatchNamespaces watches the labels of namespaces. Nil watches nothing.
	WatchPolicySets func(ctx context.Context) (bool, error)
	WatchNamespaces func(ctx context.Context) error
	// Programs validates the Programs of the cluster, and CheckProgram a local one.
	Programs     ProgramChecks
	CheckProgram ProgramCheck
	// Expressions compiles readyExpr.
	Expressions *dependency.Expressions
	// Results keeps what reading Secrets and ConfigMaps led to. Nil keeps nothing.
	Results *ResultCache
	// InventoryRetryAt returns when to write an inventory again that could not be written,
	// zero if there is none. Nil knows none.
	InventoryRetryAt func(stack types.NamespacedName) time.Time
	// Now is the clock.
	Now func() time.Time
	Options
}

// Options are the flags of the controller that make a difference.
type Options struct {
	// Jobs says that runs are Jobs, so that spec.workspaceTemplate applies.
	Jobs bool
	// NoCrossNamespaceRefs denies references to other namespaces.
	NoCrossNamespaceRefs bool
	// ControllerRefs is the controller's own environment and files, which references of
	// type Env and FS read. Nil denies them.
	ControllerRefs *inputs.Controller
	// RefuseLocalPrograms refuses previews of local programs.
	RefuseLocalPrograms bool
	// DefaultServiceAccount is the service account of Stacks that name none. If it is
	// empty too, their programs have no access to the cluster.
	DefaultServiceAccount string
	// WorkloadIdentity gives programs the identity of their service account in clouds.
	WorkloadIdentity bool
	// AdditiveCELDependencyCheck makes a readyExpr add to the built-in dependency check
	// instead of replacing it.
	AdditiveCELDependencyCheck bool
	// PartialCache says that the cache lacks some of the Stacks that others may refer to,
	// as in a shard.
	PartialCache bool
	// AssumeUnchanged takes a projectRepo that nobody has fetched here for unchanged since the
	// last update of the Pulumi operator.
	AssumeUnchanged bool
	// RequeueDependency is how often to check Stacks that are not in the cache, whose
	// changes trigger no event.
	RequeueDependency time.Duration
}

// Runner has the runs.
type Runner interface {
	// Look returns the phase of a run, and its Result once it has ended.
	Look(of run.Ref) (run.Phase, *run.Result)
	// Report returns what a run in flight has reported, zero for any other.
	Report(of run.Ref) run.Report
}

// SourceResolver resolves the artifact that a reference points to.
type SourceResolver interface {
	Resolve(ctx context.Context, namespace string, ref v1.SourceReference) (*source.Source, error)
}

// Observe gathers all that a decision depends on. It returns only errors of the API
// server; whatever is wrong with the Stack becomes a Problem.
func (o *Observer) Observe(ctx context.Context, stack *v1.Stack) (*Observation, error) {
	return o.observeAfter(ctx, stack, nil)
}

// ObserveAfter observes a Stack after the upkeep of its Git objects, which led to the error.
func (o *Observer) ObserveAfter(ctx context.Context, stack *v1.Stack, err error) (*Observation, error) {
	return o.observeAfter(ctx, stack, &upkept{err})
}

func (o *Observer) observeAfter(ctx context.Context, stack *v1.Stack, done *upkept) (*Observation, error) {
	seen := o.observeStack(stack)
	seen.upkept = done
	if stack.Status.Run != nil {
		// Nothing else matters until the run ends, so nothing else is read, but for the packs of
		// one that waits for its pod. A run in the background holds up nothing.
		if err := o.observeRun(ctx, stack, seen); err != nil {
			return seen, err
		}
		if !seen.Run.InBackground || seen.Run.Phase != run.Running {
			return seen, o.observePacksOfRun(ctx, stack, seen)
		}
	}
	if err := o.observePolicies(ctx, stack, seen); err != nil {
		return seen, err
	}
	if seen.Suspended && !seen.Deleting {
		return seen, o.observeSuspended(ctx, stack, seen)
	}
	leaves := !seen.DestroyOnFinalize && !seen.Interrupted
	if seen.Suspended || (seen.Deleting && (!seen.HasFinalizer || leaves || seen.Preview)) {
		return seen, nil
	}
	if seen.Deleting && o.NamespaceEnds != nil {
		ends, err := o.NamespaceEnds(ctx, stack.Namespace)
		if seen.NamespaceEnds = ends; ends || err != nil {
			return seen, err
		}
	}
	err := o.observeInputs(ctx, stack, seen)
	if seen.Problem = problemOf(err); seen.Problem == nil && err != nil {
		return seen, err
	}
	if seen.Problem != nil {
		if err := o.observeRefusedCommit(ctx, stack, seen); err != nil {
			return seen, err
		}
		// What was there once and is gone is not about to appear.
		seen.Problem.Awaited = seen.Problem.Awaited && (stack.Status.LastAttemptedRevision == "" || seen.Problem.Fetching)
		if mayPass(err) || (seen.Deleting && seen.Problem.Fetching) {
			seen.Problem.Since = stackstatus.NotReadySince(stack, seen.Problem.Reason, seen.Now)
		}
	}
	seen.digestPolicies()
	if err := o.observeOutputs(ctx, stack, seen); err != nil {
		return seen, err
	}
	return seen, o.observeOrder(ctx, stack, seen)
}

// observeStack gathers what the Stack itself says.
func (o *Observer) observeStack(stack *v1.Stack) *Observation {
	seen := &Observation{
		Observation: stackstatus.Observation(stack, o.Now()), Workspace: o.workspaceOf(stack),
		Account: inputs.ServiceAccount(stack, o.DefaultServiceAccount), Forced: stackstatus.ForceRequested(stack) || stack.Status.RefreshPending,
	}
	if o.InventoryRetryAt != nil {
		seen.InventoryRetryAt = o.InventoryRetryAt(client.ObjectKeyFromObject(stack))
	}
	return seen
}
