// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package slots

// Pools are the slots of a Runner. Those of runs in the background do not count as others.
type Pools struct{ ordinary, background *Pool }

// NewPools returns Pools with that many slots each: see New.
func NewPools(size, inBackground, perNamespace int, wake func(namespace, name string)) Pools {
	return Pools{New(size, perNamespace, wake), New(inBackground, perNamespace, wake)}
}

// Of returns the slots of runs in the background, or of all others.
func (p Pools) Of(inBackground bool) *Pool {
	if inBackground {
		return p.background
	}
	return p.ordinary
}

// Waiting returns how many Stacks wait for a slot.
func (p Pools) Waiting() int { return p.ordinary.Waiting() + p.background.Waiting() }

// Guarded is a Pool whose Runner knows the runs that use the slots. It implements run.Slots.
type Guarded struct {
	Pool *Pool
	// Startable calls do if a run of the Stack may start, and Unused if none has its slot. No run
	// starts or ends meanwhile.
	Startable, Unused func(stack Stack, do func())
}

// Reserve implements run.Slots.
func (g Guarded) Reserve(namespace, name string) (reserved bool) {
	stack := Stack{namespace, name}
	g.Startable(stack, func() { reserved = g.Pool.Reserve(stack) })
	return reserved
}

// Release implements run.Slots. It does not free the slot of a run.
func (g Guarded) Release(namespace, name string) {
	stack := Stack{namespace, name}
	g.Unused(stack, func() { g.Pool.Release(stack) })
}

// Postpone implements run.Slots. It does not free the slot of a run.
func (g Guarded) Postpone(namespace, name string) {
	stack := Stack{namespace, name}
	g.Unused(stack, func() { g.Pool.Postpone(stack) })
}
