// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// The Stacks of examples/quickstart, and where in the repository its program is.
const (
	namespace  = "default"
	gitStack   = "quickstart"
	yamlStack  = "greeting"
	programDir = "examples/quickstart/program"
)

// fromGit has a Stack take its program from git.
func (d *demo) fromGit(ctx context.Context) error {
	d.screen.say("2. A Stack that takes its program from git",
		"A local git server has the Pulumi program examples/quickstart/program. The GitRepository tells Flux where",
		"it is, the Stack tells the controller to keep it applied. The three resources of the program are made in a",
		"cloud that is a directory.",
		"  $ kubectl apply -f examples/quickstart/source.yaml -f examples/quickstart/stack.yaml",
		"  $ flux pulumi get stacks -n default --watch")
	var err error
	if d.repo, err = d.git.NewRepo(ctx, gitStack); err != nil {
		return err
	}
	commit, err := d.commitProgram(ctx, "version 1", "Add the program")
	if err != nil {
		return err
	}
	if err := d.apply(ctx, "source.yaml", "stack.yaml"); err != nil {
		return err
	}
	if err := d.await(ctx, "the Stack to apply the commit", applied(gitStack, "@sha1:"+commit)); err != nil {
		return err
	}
	if err := d.expectThings(map[string]string{"network": "", "database": "in network", "web": "version 1"}); err != nil {
		return err
	}
	return d.showFlux(ctx, "tree", "stack", gitStack)
}

// fromProgram has a Stack take its program from a Kubernetes object.
func (d *demo) fromProgram(ctx context.Context) error {
	d.screen.say("3. A Stack that takes its program from Kubernetes",
		"A Program is a Pulumi YAML program that is itself an object. No repository is needed.",
		"  $ kubectl apply -f examples/quickstart/program.yaml")
	if err := d.apply(ctx, "program.yaml"); err != nil {
		return err
	}
	if err := d.await(ctx, "the Stack to apply the Program", applied(yamlStack, "1@")); err != nil {
		return err
	}
	if err := d.expectThing("greeting", "hello"); err != nil {
		return err
	}
	return d.showFlux(ctx, "get", "stacks")
}

// outputs shows what the Stacks tell and what they made.
func (d *demo) outputs(ctx context.Context) error {
	d.screen.say("4. What the stack tells, and what is there",
		"The outputs of the stack are in the status of the Stack. A secret one is not shown.")
	if err := d.showFlux(ctx, "outputs", "stack", gitStack); err != nil {
		return err
	}
	return d.showThings()
}

// commit changes the program in git.
func (d *demo) commit(ctx context.Context) error {
	d.screen.say("5. A commit",
		"The web resource of the program gets another value. Nothing but git is touched: Flux sees the commit, and",
		"the Stack follows it.",
		"  $ git commit -am 'Go to version 2' && git push")
	commit, err := d.commitProgram(ctx, "version 2", "Go to version 2")
	if err != nil {
		return err
	}
	if err := d.await(ctx, "the Stack to follow the commit", applied(gitStack, "@sha1:"+commit)); err != nil {
		return err
	}
	if err := d.expectThing("web", "version 2"); err != nil {
		return err
	}
	if err := d.showThings(); err != nil {
		return err
	}
	return d.showFlux(ctx, "history", "stack", gitStack)
}

// edit changes the Program.
func (d *demo) edit(ctx context.Context) error {
	d.screen.say("6. An edit of the Program",
		"It is watched, so the Stack follows at once.",
		"  $ kubectl edit program greeting")
	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: yamlStack}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"program":{"resources":{"greeting":{"properties":{"value":"good morning"}}}}}`))
	if err := d.system.Patch(ctx, program, patch); err != nil {
		return fmt.Errorf("editing the Program: %w", err)
	}
	revision := fmt.Sprintf("%d@", program.Generation)
	if err := d.await(ctx, "the Stack to follow the Program", applied(yamlStack, revision)); err != nil {
		return err
	}
	return d.expectThing("greeting", "good morning")
}

// delete deletes a Stack.
func (d *demo) delete(ctx context.Context) error {
	d.screen.say("7. The end of a Stack",
		"It has destroyOnFinalize: what it made is destroyed, its stack is removed from the backend, and only then is",
		"the object gone.",
		"  $ kubectl delete stack quickstart")
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitStack}}
	if err := d.system.Delete(ctx, stack); err != nil {
		return fmt.Errorf("deleting the Stack: %w", err)
	}
	if err := d.await(ctx, "the deleted Stack to be gone", gone(gitStack)); err != nil {
		return err
	}
	state := filepath.Join(d.stateDir(), ".pulumi", "stacks", gitStack, "dev.json")
	if _, err := os.Stat(state); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the deleted Stack has left its stack in the backend: %s (%v)", state, err)
	}
	d.screen.say("", "Of what was there, the other Stack's resource is left:")
	if err := d.showThings(); err != nil {
		return err
	}
	return d.expectThings(map[string]string{"greeting": "good morning"})
}

// commitProgram commits the program with a value for its web resource.
func (d *demo) commitProgram(ctx context.Context, version, message string) (string, error) {
	files, err := d.program(version)
	if err != nil {
		return "", err
	}
	placed := sources.Files{}
	for name, content := range files {
		placed[path.Join(programDir, name)] = content
	}
	return d.repo.Commit(ctx, placed, message)
}

// program is that of the examples, with a value for its web resource.
func (d *demo) program(version string) (sources.Files, error) {
	const first = "version 1"
	files, err := sources.ReadDir(filepath.Join(d.examples, "program"))
	if err != nil {
		return nil, err
	}
	if !strings.Contains(files["Main.yaml"], first) {
		return nil, fmt.Errorf("program/Main.yaml does not say %q", first)
	}
	files["Main.yaml"] = strings.ReplaceAll(files["Main.yaml"], first, version)
	return files, nil
}
