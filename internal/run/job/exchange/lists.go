// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The bounds of the lists of a decoded result: as many members as the driver lists, and
// texts far longer than it writes.
const (
	maxResources = 20_000
	maxCount     = 10_000_000
)

// lists are what a result says about single resources. They are for people, and get the
// space that everything else leaves.
type lists struct {
	inventory *run.Inventory
}

// listsOf moves the lists out of a result.
func listsOf(ended *run.Result) lists {
	taken := lists{}
	if ended.Inventory != nil {
		copied := *ended.Inventory
		taken.inventory = &copied
	}
	ended.Inventory = nil
	return taken
}

// packWith packs a result that fits, of which bare is the packed form, with as much of
// the lists as fits: it drops the IDs first, and then the last resources, which it counts.
func packWith(whole result, bare packedResult, l lists) ([]byte, error) {
	for {
		whole.Result.Inventory = l.inventory
		all, err := pack(whole)
		switch {
		case err != nil || all.fits():
			return all.data, err
		case l.isEmpty():
			return bare.data, nil
		case l.inventory != nil && !l.inventory.WithoutIDs:
			l.dropIDs()
			continue
		}
		l.cut(func(count int) int {
			// Cut in proportion to the excess, and a little more.
			ofData := count * (MaxData - bare.size.Data) / max(1, all.size.Data-bare.size.Data)
			ofText := count * (maxText - bare.size.Text) / max(1, all.size.Text-bare.size.Text)
			ofMembers := count * (maxMembers - bare.size.Members) / max(1, all.size.Members-bare.size.Members)
			return max(0, min(ofData, ofText, ofMembers, count)) * 19 / 20
		})
	}
}

func (l lists) isEmpty() bool {
	return l.inventory == nil || len(l.inventory.Resources)+len(l.inventory.Gone) == 0
}

func (l *lists) dropIDs() {
	l.inventory.WithoutIDs, l.inventory.Resources = true, slices.Clone(l.inventory.Resources)
	for i := range l.inventory.Resources {
		l.inventory.Resources[i].ID = ""
	}
}

// cut shortens each list to the length that keep returns, which is smaller.
func (l *lists) cut(keep func(count int) int) {
	if l.inventory == nil {
		return
	}
	resources, gone := keep(len(l.inventory.Resources)), keep(len(l.inventory.Gone))
	l.inventory.LeftOut += len(l.inventory.Resources) - resources
	l.inventory.Missed = l.inventory.Missed || gone < len(l.inventory.Gone) // what is gone stays in the list
	l.inventory.Resources, l.inventory.Gone = l.inventory.Resources[:resources], l.inventory.Gone[:gone]
}

// boundedInventory returns an inventory that the driver may have produced.
func boundedInventory(reported *run.Inventory) *run.Inventory {
	if reported == nil {
		return nil
	}
	bounded := *reported
	bounded.Resources = first(reported.Resources, maxResources)
	for i := range bounded.Resources {
		one := &bounded.Resources[i]
		one.URN, one.Type, one.ID, one.Parent = cut(one.URN, maxURN), cut(one.Type, maxName), cut(one.ID, maxURN), cut(one.Parent, maxURN)
	}
	bounded.Gone = first(reported.Gone, maxResources)
	for i := range bounded.Gone {
		bounded.Gone[i] = cut(bounded.Gone[i], maxURN)
	}
	bounded.LeftOut = boundedCount(reported.LeftOut)
	return &bounded
}

// copyPlan copies the plan of a result, or what has drifted, in its place. It is nil if the
// result has neither; none has both.
func copyPlan(ended *run.Result) *plan.Plan {
	switch {
	case ended.Plan != nil:
		copied := *ended.Plan
		ended.Plan = &copied
		return &copied
	case ended.Drift != nil:
		copied := *ended.Drift
		ended.Drift = &copied
		return &copied.Found
	}
	return nil
}

// fitDone packs a result with as much of what was done as fits, and else with the counts.
func fitDone(whole *result) (packedResult, error) {
	done := whole.Result.Done
	if done == nil {
		return pack(*whole)
	}
	try := func(less plan.Plan) (packedResult, error) {
		less = less.WithoutDigests()
		whole.Result.Done = &less
		return pack(*whole)
	}
	all, err := try(done.Within(plan.Limits{}))
	if err != nil || !all.fits() {
		return all, err
	}
	_, _, err = done.Fit(func(less plan.Plan) (bool, error) {
		all, err = try(less)
		return all.fits(), err
	})
	return all, err
}

// boundedDone returns what the driver may have done.
func boundedDone(reported *plan.Plan) *plan.Plan {
	if reported == nil {
		return nil
	}
	bounded := plan.FitDone(plan.Plan{
		Destroy: reported.Destroy, Steps: reported.Steps, More: reported.More, Outputs: reported.Outputs, MoreOutputs: reported.MoreOutputs,
		Incomplete: reported.Incomplete,
	}.Bounded())
	return &bounded
}

// boundedDrift returns drift that the driver may have found.
func boundedDrift(reported *run.Drift) *run.Drift {
	if reported == nil {
		return nil
	}
	found := reported.Found
	return &run.Drift{
		Found:   plan.Plan{Steps: found.Steps, More: found.More, MoreDigest: found.MoreDigest}.Bounded().Untried(),
		Ignored: boundedCount(reported.Ignored),
	}
}

// first copies the first members of a list, so that the others are not kept in memory.
func first[T any](list []T, most int) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list[:min(len(list), most)])
}

func boundedCount(count int) int { return max(0, min(count, maxCount)) }
