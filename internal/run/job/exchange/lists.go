// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The bounds of the lists of a result that is read: as many as the driver tells of, and
// texts far beyond those that it makes.
const (
	maxResources = 20_000
	maxSteps     = 10_000
	maxPaths     = 20
	maxPath      = 1 << 10
	maxCount     = 10_000_000
)

// lists are what a result tells of each resource. They are for people to look at, and
// get the room that all else leaves.
type lists struct {
	inventory    *run.Inventory
	steps        []run.Step
	stepsLeftOut int
}

// listsOf takes the lists out of a result.
func listsOf(ended *run.Result) lists {
	taken := lists{steps: ended.Steps, stepsLeftOut: ended.StepsLeftOut}
	if ended.Inventory != nil {
		copied := *ended.Inventory
		taken.inventory = &copied
	}
	ended.Inventory, ended.Steps, ended.StepsLeftOut = nil, nil, 0
	return taken
}

// packWith packs a result that fits, which is bare, with as much of the lists as has
// room: without IDs first, and then without the last of the resources and steps, which
// are counted.
func packWith(whole result, bare packedResult, l lists) ([]byte, error) {
	for {
		whole.Result.Inventory, whole.Result.Steps, whole.Result.StepsLeftOut = l.inventory, l.steps, l.stepsLeftOut
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
			// By as much as there is too much, and a little more.
			ofData := count * (MaxData - bare.size.Data) / max(1, all.size.Data-bare.size.Data)
			ofText := count * (maxText - bare.size.Text) / max(1, all.size.Text-bare.size.Text)
			ofMembers := count * (maxMembers - bare.size.Members) / max(1, all.size.Members-bare.size.Members)
			return max(0, min(ofData, ofText, ofMembers, count)) * 19 / 20
		})
	}
}

func (l lists) isEmpty() bool {
	return len(l.steps) == 0 && (l.inventory == nil || len(l.inventory.Resources)+len(l.inventory.Gone) == 0)
}

func (l *lists) dropIDs() {
	l.inventory.WithoutIDs, l.inventory.Resources = true, slices.Clone(l.inventory.Resources)
	for i := range l.inventory.Resources {
		l.inventory.Resources[i].ID = ""
	}
}

// cut keeps as many of each as keep says, which is less.
func (l *lists) cut(keep func(count int) int) {
	steps := keep(len(l.steps))
	l.stepsLeftOut += len(l.steps) - steps
	l.steps = l.steps[:steps]
	if l.inventory == nil {
		return
	}
	resources, gone := keep(len(l.inventory.Resources)), keep(len(l.inventory.Gone))
	l.inventory.LeftOut += len(l.inventory.Resources) - resources
	l.inventory.Missed = l.inventory.Missed || gone < len(l.inventory.Gone) // what is gone stays in the list
	l.inventory.Resources, l.inventory.Gone = l.inventory.Resources[:resources], l.inventory.Gone[:gone]
}

// boundedInventory is one that the driver may have made.
func boundedInventory(told *run.Inventory) *run.Inventory {
	if told == nil {
		return nil
	}
	bounded := *told
	bounded.Resources = first(told.Resources, maxResources)
	for i := range bounded.Resources {
		one := &bounded.Resources[i]
		one.URN, one.Type, one.ID, one.Parent = cut(one.URN, maxURN), cut(one.Type, maxName), cut(one.ID, maxURN), cut(one.Parent, maxURN)
	}
	bounded.Gone = first(told.Gone, maxResources)
	for i := range bounded.Gone {
		bounded.Gone[i] = cut(bounded.Gone[i], maxURN)
	}
	bounded.LeftOut = boundedCount(told.LeftOut)
	return &bounded
}

// boundedSteps are those that the driver may have made.
func boundedSteps(told []run.Step) []run.Step {
	bounded := first(told, maxSteps)
	for i := range bounded {
		one := &bounded[i]
		one.Op, one.URN, one.Type = cut(one.Op, maxName), cut(one.URN, maxURN), cut(one.Type, maxName)
		one.Paths = first(one.Paths, maxPaths)
		for n := range one.Paths {
			one.Paths[n] = cut(one.Paths[n], maxPath)
		}
	}
	return bounded
}

// first are the first of a list, in memory of their own: nothing is kept of the others.
func first[T any](list []T, most int) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list[:min(len(list), most)])
}

func boundedCount(count int) int { return max(0, min(count, maxCount)) }
