// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// labPack has the policies of the lab, which are an executable.
func labPack(set, name string, config string) run.PolicyPack {
	return run.PolicyPack{
		Set: set, Name: name, Config: json.RawMessage(config), Enforced: true,
		Artifact: run.Artifact{Dir: "policies, of the lab"}, // Pulumi takes a comma in a flag for two values
	}
}

// guarded executes a run with packs that are the executable of the lab, beside files.
func (l *lab) guarded(ctx context.Context, r run.Run, files map[string]string, packs ...run.PolicyPack) run.Result {
	l.Helper()
	all := l.labPackFiles()
	maps.Copy(all, files)
	return l.guardedBy(ctx, r, all, packs...)
}

// labPackFiles are the files of a pack that is the executable of the lab.
func (l *lab) labPackFiles() map[string]string {
	l.Helper()
	executable, err := process.FindBin("lab/pulumi-analyzer-lab")
	l.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(executable)
	l.Expect(err).NotTo(HaveOccurred())
	return map[string]string{policyFile: "runtime: {name: go, options: {binary: pulumi-analyzer-lab}}\n", "pulumi-analyzer-lab": string(text)}
}

// guardedBy executes a run with packs, each of which has these files.
func (l *lab) guardedBy(ctx context.Context, r run.Run, files map[string]string, packs ...run.PolicyPack) run.Result {
	l.Helper()
	return l.guardedIn(ctx, Directory(l.TempDir()), r, files, packs...)
}

// guardedIn is guardedBy in a directory that may have a program.
func (l *lab) guardedIn(ctx context.Context, dir Directory, r run.Run, files map[string]string, packs ...run.PolicyPack) run.Result {
	l.Helper()
	r.Policies = packs
	for n, pack := range packs {
		l.placePack(dir, n, pack, files)
	}
	return l.doWritten(ctx, dir, r)
}

// placePack writes the files of a pack of a run.
func (l *lab) placePack(dir Directory, n int, pack run.PolicyPack, files map[string]string) {
	l.Helper()
	at := filepath.Join(dir.Policy(n).Workspace(), pack.Artifact.Dir)
	l.Expect(os.MkdirAll(at, 0o700)).To(Succeed())
	for name, text := range files {
		writeProgram(l.T, filepath.Join(at, name), text)
	}
}

func TestAViolatedPolicyStopsAnUpdateBeforeItChangesAnything(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	const few = `{"few-things":{"enforcementLevel":"mandatory","most":1}}`
	result := l.guarded(t.Context(), l.update(l.thing("value: forbidden", "value: fine", "value: unwise")), nil,
		labPack("base", "values", ""), labPack("limits", "values", few))
	l.Expect(result.Outcome).To(Equal(run.PolicyViolation), result.Message)
	l.Expect(result.Message).To(Equal("policy no-forbidden-values of pack values in PolicySet base: lab:index:Thing (a): the value is forbidden: forbidden; and 2 more violations"))
	l.Expect(result.Violations.Mandatory).To(Equal(map[string]int{"base": 1, "limits": 2}))
	l.Expect(result.Violations.Advisory).To(Equal(map[string]int{"base": 1, "limits": 1}))
	l.Expect(result.Violations.Listed).To(HaveLen(5))
	l.Expect(result.Violations.Listed[0]).To(Equal(run.Violation{
		Set: "base", Pack: "values", Policy: "no-forbidden-values", Level: run.Mandatory,
		Resource: "urn:pulumi:dev::demo::lab:index:Thing::a", Message: "the value is forbidden: forbidden",
	}))
	l.Expect(l.things()).To(BeZero(), "nothing is made, also if only the stack as a whole violates a policy")
	l.Expect(result.Changes).To(Equal(run.Changes{}))

	result = l.guarded(t.Context(), l.update(l.thing("value: dirty and unwise")), nil, labPack("limits", "values", few))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 2}), "a thing and the provider")
	l.Expect(result.Violations.Advisory).To(Equal(map[string]int{"limits": 1}))
	l.Expect(result.Violations.Listed).To(HaveLen(1), "that of the preview is the same")
	l.Expect(l.saidLines()).To(ContainElement("lab:index:Thing (a): corrected by policy clean-values of lab"))
	l.Expect(l.state()).To(ContainSubstring("clean and unwise"))

	l.Expect(l.do(t.Context(), l.destroy()).Outcome).To(Equal(run.Succeeded))
}

func TestAPackThatCannotBeUsedStopsTheRun(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	for name, test := range map[string]struct {
		files         map[string]string
		value, config string
		operation     run.Operation
		message       string
	}{
		"it does not start": {
			files: map[string]string{"broken": ""}, operation: run.Update,
			message: "policy pack values of PolicySet base failed: exit status 1: pulumi-analyzer-lab: this pack is broken. Without it, the Stack is not updated",
		},
		"it dies": {
			value: "fatal", operation: run.Update,
			message: "policy pack values of PolicySet base failed: lab:index:Thing (a): failed to run policy: error reading from server: EOF. Without it, the Stack is not updated",
		},
		"its config is wrong": {
			config: `{"few-things":{"enforcementLevel":"mandatory","most":"x"}}`, operation: run.Preview,
			message: "policy pack values of PolicySet base failed: validating policy config: lab base/values  few-things: most: Invalid type. Expected: number, given: string",
		},
		"its language is missing": {
			files: map[string]string{policyFile: "runtime: nodejs\n"}, operation: run.Preview,
			message: "policy pack values of PolicySet base: it needs pulumi-language-nodejs, and " + run.MissingLanguage,
		},
		"it is no pack": {
			files: map[string]string{policyFile: "description: x\n"}, operation: run.Preview,
			message: "policy pack values of PolicySet base: PulumiPolicy.yaml names no runtime",
		},
		"its executable is missing": {
			files: map[string]string{policyFile: "runtime: {name: go, options: {binary: missing}}\n"}, operation: run.Preview,
			message: `policy pack values of PolicySet base: the option binary of the runtime in PulumiPolicy.yaml is "missing", which is not in the source; ` + run.LeftOutOfArtifacts,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := l.update(l.thing("value: " + test.value))
			r.Operation = test.operation
			result := l.guarded(t.Context(), r, test.files, labPack("base", "values", test.config))
			g := NewWithT(t)
			g.Expect(result.Outcome).To(Equal(run.PolicyPackFailed), result.Message)
			// How the connection of a process that has died ends depends on what was in it.
			message := strings.ReplaceAll(result.Message, "connection reset by peer", "EOF")
			g.Expect(message).To(Equal(test.message))
			g.Expect(l.things()).To(BeZero())
		})
	}
}

func TestAnUpdateWithoutItsPacksIsStoppedAfterItsPreview(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	cli, err := process.FindBin("pulumi")
	l.Expect(err).NotTo(HaveOccurred())
	// A CLI that does not know policy packs, as the image of a Stack may have it.
	writeProgram(t, filepath.Join(l.driver.Bin, "pulumi"), `#!/bin/sh
for arg; do
	shift
	case $arg in --policy-pack*) ;; *) set -- "$@" "$arg" ;; esac
done
exec `+cli+` "$@"
`)
	result := l.guarded(t.Context(), l.update(l.thing("value: forbidden")), nil, labPack("base", "values", ""))
	l.Expect(result.Outcome).To(Equal(run.PolicyPackFailed), result.Message)
	l.Expect(result.Message).To(ContainSubstring("policy pack values of PolicySet base: no event of Pulumi says that it was loaded"))
	l.Expect(l.things()).To(BeZero(), "nothing is made")
	l.Expect(result.Changes).To(Equal(run.Changes{}))
	l.Expect(result.Interrupted).To(BeFalse())
}

func TestTheStackDoesNotDecideHowAPackRuns(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	r := l.update(l.thing("value: x"))
	r.Operation = run.Preview
	for _, name := range []string{"NODE_OPTIONS", "PULUMI_DEBUG_LANGUAGES", "AWS_SECRET_ACCESS_KEY"} {
		r.Env[name] = "canary"
	}
	l.driver.PassEnv = map[string]string{"HTTP_PROXY": "canary", "PYTHONSTARTUP": "canary"} // of the pod, in a Job
	l.driver.PackEnv = map[string]string{"HTTPS_PROXY": "proxy:3128"}
	result := l.guarded(t.Context(), r, nil, labPack("base", "values", `{"environment":"advisory"}`))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Violations.Listed).To(HaveLen(1))
	message := result.Violations.Listed[0].Message
	l.Expect(message).To(And(ContainSubstring(" HOME "), ContainSubstring(" PATH "), ContainSubstring("HTTPS_PROXY ")))
	for _, name := range slices.Concat(slices.Collect(maps.Keys(r.Env)), slices.Collect(maps.Keys(l.driver.PassEnv))) {
		l.Expect(message).NotTo(ContainSubstring(name))
	}
}

// packOfTheGuide returns the pack that the guide to policies shows, for things in place of buckets.
func packOfTheGuide(t *testing.T) string {
	t.Helper()
	root, err := process.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "guides", "policies.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```ts\n")
	pack, _, _ := strings.Cut(after, "```")
	return strings.ReplaceAll(pack, "aws:s3/bucket:Bucket", "lab:index:Thing")
}

func TestTheStackPutsNoCodeIntoWhatChecksPolicies(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	for _, name := range []string{"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"} {
		of := l.update(l.thing("value: x"))
		of.Env[name] = "canary"
		result := l.guarded(t.Context(), of, nil, labPack("base", "values", ""))
		l.Expect(result.Outcome).To(Equal(run.Failed))
		l.Expect(result.Message).To(And(HavePrefix("the environment variable "+name+" cannot be set"), Not(ContainSubstring("canary"))))
	}
	l.driver.PassEnv = map[string]string{"LD_PRELOAD": "canary"} // of the pod, in a Job
	result := l.guarded(t.Context(), l.update(l.thing("value: x")), nil, labPack("base", "values", ""))
	l.Expect(result.Message).To(HavePrefix("the environment variable LD_PRELOAD cannot be set"))
	l.Expect(l.things()).To(BeZero())
}

func TestAPackInTypeScriptIsInstalledAndRunsOnItsOwn(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	packages, err := process.FindBin("nodejs/node_modules")
	if err != nil {
		t.Skip("this machine has no Node.js, or no way to npm's packages")
	}
	node, err := exec.LookPath("node")
	l.Expect(err).NotTo(HaveOccurred())
	host, err := process.FindBin("lab/pulumi-language-nodejs")
	l.Expect(err).NotTo(HaveOccurred())
	installed := filepath.Join(l.TempDir(), "installed")
	// What npm would install is in the directory of the run, in a parent of the pack.
	writeProgram(t, filepath.Join(l.driver.Bin, "npm"), "#!/bin/sh\necho \"$1 in $(basename $PWD):$NODE_OPTIONS\" >> "+installed+"\n"+
		"ln -sfn "+packages+" ../../../node_modules\n")
	l.Expect(os.Symlink(host, filepath.Join(l.driver.Bin, "pulumi-language-nodejs"))).To(Succeed())
	l.Expect(os.Symlink(node, filepath.Join(l.driver.Bin, "node"))).To(Succeed())

	pack := run.PolicyPack{Set: "base", Name: "tags", Enforced: true, Config: json.RawMessage(`{"required-tags":{"tags":["owner"]}}`), Artifact: run.Artifact{Dir: "tags"}}
	source := map[string]string{
		"PulumiPolicy.yaml": "runtime: nodejs\nversion: 1.0.0\n",
		"package.json":      `{"name": "tags", "version": "1.0.0", "main": "index.js", "type": "commonjs"}`, // as npm init --yes writes it
		"index.ts":          packOfTheGuide(t),
	}
	r := l.update(l.thing("tags: {team: a}"))
	r.Env["NODE_OPTIONS"] = "--require=./not-there.js" // would keep any program in Node.js from starting
	result := l.guardedBy(t.Context(), r, source, pack)
	l.Expect(result.Outcome).To(Equal(run.PolicyViolation), result.Message)
	l.Expect(result.Message).To(Equal("policy required-tags of pack tags in PolicySet base: lab:index:Thing (a): Buckets have tags.\nthe tag owner is missing"))
	l.Expect(os.ReadFile(installed)).To(BeEquivalentTo("install in tags:\n"))

	ok := l.update(l.thing("tags: {owner: a}"))
	result = l.guardedBy(t.Context(), ok, source, pack)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Violations).To(BeZero())
}

func TestAPlanHasTheVerdictsOfPolicies(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	propose := func() run.Run {
		r := l.update(l.thing("value: unwise"))
		r.Operation, r.PlanKey, r.PlanInputs = run.Propose, "key", "inputs"
		return r
	}
	plain := l.do(t.Context(), propose())
	l.Expect(plain.Outcome).To(Equal(run.Succeeded), plain.Message)
	guarded := l.guarded(t.Context(), propose(), nil, labPack("base", "values", ""))
	l.Expect(guarded.Outcome).To(Equal(run.Succeeded), guarded.Message)
	l.Expect(guarded.Plan.Policies).To(HaveLen(1))
	l.Expect(guarded.Plan.Digest()).NotTo(Equal(plain.Plan.Digest()), "another verdict is another plan")

	update := propose()
	update.Operation, update.Approved = run.Update, guarded.Plan.Digest()
	result := l.guarded(t.Context(), update, nil, labPack("base", "values", ""))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.things()).To(Equal(1))
}
