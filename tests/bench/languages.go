// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// What is compared for each language.
const (
	firstRun    = iota // of the first stack
	otherConfig        // of the same stack
	newCommit          // that leaves the lock file alone
	manyStacks         // of the same program, all of them new and at once
	languageActs
)

// languageSample is what was measured for a language.
type languageSample struct {
	language language
	// installed is what it took to put the dependencies in place for bare Pulumi.
	installed sample
	// acts have the pairs of each act, of which the first run has only one.
	acts [languageActs][]pair
}

// languageSide is one of two sides with the same program. Each method measures until the stacks show what they are to show.
type languageSide interface {
	// create creates as many stacks from the first on.
	create(ctx context.Context, now shown, first, stacks int) (span, error)
	// configure changes the configuration of the first stack.
	configure(ctx context.Context, now shown) (span, error)
	// commit changes the program, and updates the first stack.
	commit(ctx context.Context, now shown) (span, error)
}

// measureLanguages compares each language that was asked for.
func (b *bench) measureLanguages(ctx context.Context, r *report) error {
	if len(b.languages) == 0 {
		return nil
	}
	image := filepath.Join(b.dir, "image")
	if err := os.Mkdir(image, 0o755); err != nil {
		return fmt.Errorf("making an image: %w", err)
	}
	if err := toolchain.WriteImage(image); err != nil {
		return fmt.Errorf("making an image: %w", err)
	}
	for _, name := range b.languages {
		taken, err := b.measureLanguage(ctx, image, name)
		if err != nil {
			return fmt.Errorf("with programs in %s: %w", name, err)
		}
		r.languageSamples = append(r.languageSamples, taken)
	}
	return nil
}

func (b *bench) measureLanguage(ctx context.Context, image, name string) (taken languageSample, err error) {
	lang, err := newLanguage(name)
	if err != nil {
		return taken, err
	}
	defer lang.close()
	taken.language = lang
	err = b.with(ctx, name, image, func(s sides) error {
		bare, err := newBareProgram(s.bare.bin, s.bare.dir, b.parallel, lang)
		if err != nil {
			return err
		}
		stacks, err := newStackProgram(ctx, s.controller, lang)
		if err != nil {
			return err
		}
		defer stacks.source.server.Stop()
		b.say("installing what programs in %s need, for bare Pulumi", lang.title)
		if taken.installed, err = b.phase(ctx, s, bare.install); err != nil {
			return err
		}
		return b.languageActs(ctx, s, &taken, bare, stacks)
	})
	return taken, err
}

// languageActs does the first run once, since the next one finds what it has left, and then all else as often as is wanted.
// Stacks that were made all at once come last: a commit would run them too.
func (b *bench) languageActs(ctx context.Context, s sides, taken *languageSample, bare, stacks languageSide) error {
	now := shown{greeting: beforeTheEdit, value: "value-0"}
	act := func(which int, do func(context.Context, languageSide) (span, error)) error {
		measured, err := b.languagePair(ctx, s, bare, stacks, do)
		if err != nil {
			return fmt.Errorf("%s: %w", languageActNames(b.options)[which], err)
		}
		taken.acts[which] = append(taken.acts[which], measured)
		b.say("%s, %s: bare Pulumi %.2f s, controller %.2f s", taken.language.title, languageActNames(b.options)[which],
			measured.bare.wall.Seconds(), measured.controller.wall.Seconds())
		return nil
	}
	err := act(firstRun, func(ctx context.Context, side languageSide) (span, error) { return side.create(ctx, now, 0, 1) })
	for n := 1; n <= b.languageRounds && err == nil; n++ {
		now.value = fmt.Sprintf("value-%d", n)
		err = act(otherConfig, func(ctx context.Context, side languageSide) (span, error) { return side.configure(ctx, now) })
		if err == nil {
			now.greeting = fmt.Sprintf("%s, commit %d:", beforeTheEdit, n)
			err = act(newCommit, func(ctx context.Context, side languageSide) (span, error) { return side.commit(ctx, now) })
		}
	}
	for n := 0; n < b.languageRounds && err == nil; n++ {
		first := 1 + n*b.languageStacks
		err = act(manyStacks, func(ctx context.Context, side languageSide) (span, error) {
			return side.create(ctx, now, first, b.languageStacks)
		})
	}
	return err
}

// languagePair has each side do the same, bare Pulumi first.
func (b *bench) languagePair(
	ctx context.Context, s sides, bare, stacks languageSide, do func(context.Context, languageSide) (span, error),
) (pair, error) {
	var both pair
	for _, side := range []struct {
		name   string
		of     languageSide
		result *sample
	}{{"bare Pulumi", bare, &both.bare}, {"controller", stacks, &both.controller}} {
		err := b.awaitQuiet(ctx, s.meter)
		if err == nil {
			*side.result, err = b.phase(ctx, s, func(ctx context.Context) (span, error) { return do(ctx, side.of) })
		}
		if err != nil {
			return both, fmt.Errorf("%s: %w", side.name, err)
		}
	}
	return both, nil
}
