// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// bareProgram is the CLI alone with a program in a language: one directory for all stacks, with the dependencies in place.
type bareProgram struct {
	shell shell
	// dir has the program.
	dir  string
	lang language
}

func newBareProgram(bin, dir string, parallel int, lang language) (*bareProgram, error) {
	shell, err := newShell(bin, dir, parallel)
	if err != nil {
		return nil, err
	}
	shell.env = append(shell.env, lang.bareEnv(dir)...)
	p := &bareProgram{shell: shell, dir: filepath.Join(dir, "program"), lang: lang}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return nil, fmt.Errorf("preparing bare Pulumi: %w", err)
	}
	return p, p.write(lang.files(beforeTheEdit))
}

func (p *bareProgram) write(files sources.Files) error {
	if err := files.Write(p.dir); err != nil {
		return fmt.Errorf("writing the program: %w", err)
	}
	return nil
}

// install puts the dependencies in place.
func (p *bareProgram) install(ctx context.Context) (span, error) {
	began := time.Now()
	err := p.shell.run(ctx, p.dir, filepath.Join(p.shell.bin, p.lang.install[0]), p.lang.install[1:]...)
	return span{began: began, done: time.Now()}, err
}

// writeConfig writes the configuration of a stack. Pulumi keeps the salt of the stack in the same file.
func (p *bareProgram) writeConfig(n int, value string) error {
	name := "Pulumi." + stackName(n) + ".yaml"
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("configuring %s: %w", stackName(n), err)
	}
	changed, err := withValue(text, value)
	if err != nil {
		return fmt.Errorf("configuring %s: %w", stackName(n), err)
	}
	return p.write(sources.Files{name: string(changed)})
}

// withValue sets the value of the program in the text of a Pulumi.<stack>.yaml.
func withValue(text []byte, value string) ([]byte, error) {
	all := map[string]any{}
	if err := yaml.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	all["config"] = map[string]string{valueKey: value}
	return yaml.Marshal(all)
}

func (p *bareProgram) create(ctx context.Context, now shown, first, stacks int) (span, error) {
	for n := first; n < first+stacks; n++ {
		if err := p.writeConfig(n, now.value); err != nil {
			return span{}, err
		}
	}
	return p.shell.each(ctx, first, stacks, func(n int) error { return p.shell.create(ctx, p.dir, n) })
}

func (p *bareProgram) configure(ctx context.Context, now shown) (span, error) {
	if err := p.writeConfig(0, now.value); err != nil {
		return span{}, err
	}
	return p.up(ctx)
}

func (p *bareProgram) commit(ctx context.Context, now shown) (span, error) {
	if err := p.write(p.lang.sources(now.greeting)); err != nil {
		return span{}, err
	}
	return p.up(ctx)
}

// up updates the first stack.
func (p *bareProgram) up(ctx context.Context) (span, error) {
	return p.shell.each(ctx, 0, 1, func(n int) error { return p.shell.up(ctx, p.dir, n) })
}
