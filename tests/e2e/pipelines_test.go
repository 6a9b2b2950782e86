// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// The pipelines of docs/guides/pull-requests.md: their scripts, run by bash as a runner does, with the real flux, curl and jq. The API
// of the forge is a stand-in, and so is gh.

// pipeline is a job of the guide.
type pipeline struct {
	*reviewed
	scripts []string
	options []string          // of bash
	env     map[string]string // of all scripts
	dir     string            // the checkout
}

// pipelineOf finds a job in the guide, whose namespaces become those of the test.
func (r *reviewed) pipelineOf(scripts func(text []byte) []string, options ...string) *pipeline {
	r.test.Helper()
	root, err := process.RepoRoot()
	r.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "docs", "guides", "pull-requests.md"))
	r.Expect(err).NotTo(HaveOccurred())
	p := &pipeline{reviewed: r, options: options, env: map[string]string{}}
	for _, unit := range manifests.FencedBlocks("pull-requests.md", string(text)) {
		if found := scripts([]byte(unit.Text)); len(found) > 0 {
			r.Expect(p.scripts).To(BeEmpty(), "there is one")
			p.scripts = found
		}
	}
	r.Expect(p.scripts).NotTo(BeEmpty(), "the guide has it")
	for i, script := range p.scripts {
		p.scripts[i] = strings.NewReplacer("-n apps ", "-n "+r.namespace+" ", "namespace `apps`", "namespace `"+r.namespace+"`").Replace(script)
	}
	return p
}

// ofGitHub returns the scripts of a workflow.
func ofGitHub(name string) func([]byte) []string {
	return func(text []byte) (scripts []string) {
		var workflow struct {
			Name string
			Jobs map[string]struct{ Steps []struct{ Run string } }
		}
		if yaml.Unmarshal(text, &workflow) != nil || workflow.Name != name {
			return nil
		}
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if step.Run != "" {
					scripts = append(scripts, step.Run)
				}
			}
		}
		return scripts
	}
}

// ofGitLab returns the script of a job.
func ofGitLab(name string) func([]byte) []string {
	return func(text []byte) []string {
		var jobs map[string]struct{ Script []string }
		if yaml.Unmarshal(text, &jobs) != nil {
			return nil
		}
		return jobs[name].Script
	}
}

// gh is a stand-in for the calls of gh that the guide has.
const gh = `#!/bin/bash
set -euo pipefail
api() { curl --fail --silent --show-error --header "Authorization: Bearer $GH_TOKEN" --header "Content-Type: application/json" "$@"; }
case "$1 $2" in
"pr comment")
	[ "$4 $6 $7 $8" = "--repo --edit-last --create-if-none --body-file" ]
	user=$(api "$API/user" | jq --raw-output .login)
	id=$(api "$API/repos/$5/issues/$3/comments" | jq --arg user "$user" '[.[] | select(.user.login == $user)] | last.id // empty')
	url="$API/repos/$5/issues/$3/comments"
	method=POST
	[ -z "$id" ] || { method=PATCH; url="$API/repos/$5/issues/comments/$id"; }
	jq --raw-input --slurp '{body: .}' "$9" | api --request "$method" --data @- "$url" >/dev/null
	;;
"api --paginate") api "$API/$3" | jq --raw-output --compact-output "$5" ;;
"api repos/"*) api "$API/$2" | jq --raw-output --compact-output "$4" ;;
*) echo "the stand-in for gh has no $*" >&2; exit 2 ;;
esac
`

// runs runs all scripts until one fails, with what they print and the exit code of the last. Those of GitHub get the outputs of the steps
// before in their environment.
func (p *pipeline) runs(files sources.Files) (printed string, exit int) {
	p.test.Helper()
	p.dir = p.localDir(files)
	cli, err := system.NewFluxCLI(p.test.TempDir(), p.ControlPlane.KubeconfigPath())
	p.Expect(err).NotTo(HaveOccurred())
	bin := p.test.TempDir()
	p.Expect(os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o755)).To(Succeed())
	p.Expect(os.Symlink(cli.Program, filepath.Join(bin, "flux"))).To(Succeed())
	outputs := filepath.Join(bin, "outputs")
	env := []string{
		"HOME=" + bin, "KUBECONFIG=" + p.ControlPlane.KubeconfigPath(), "FLUXCD_PLUGINS=" + cli.Plugins,
		"PATH=" + bin + ":/usr/bin:/bin", "GITHUB_OUTPUT=" + outputs,
	}
	for name, value := range p.env {
		env = append(env, name+"="+value)
	}
	for _, script := range p.scripts {
		text, exit := p.bash(env, script)
		if printed += text; exit != 0 {
			return printed, exit
		}
		if written, err := os.ReadFile(outputs); err == nil {
			env = append(env, "CODE="+strings.TrimSpace(strings.TrimPrefix(string(written), "code=")))
		}
	}
	return printed, 0
}

func (p *pipeline) bash(env []string, script string) (printed string, exit int) {
	p.test.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", append(p.options, "-c", script)...)
	command.Dir, command.Env = p.dir, env
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	var ended *exec.ExitError
	p.Expect(err == nil || errors.As(err, &ended)).To(BeTrue(), "%v", err)
	return output.String(), command.ProcessState.ExitCode()
}

// previewsInCI has the job of a pull request run for programs one after the other. There is one comment, which is edited.
func (r *reviewed) previewsInCI(preview *pipeline) {
	r.test.Helper()
	kept := r.kept()
	p := r.opens("ci", r.program)
	for _, push := range []struct {
		program, comment string
		exit             int
	}{
		{r.program, "No changes", 0},
		{r.with("443", "8443"), "8443", 0},
		{r.with("aws:ec2:SecurityGroup", "aws:ec2:SecurityGrup"), "The preview has failed: see the log of the ", 1},
		{r.with("443", "9443"), "9443", 0},
	} {
		printed, exit := preview.runs(r.files(push.program))
		r.Expect(exit).To(Equal(push.exit), printed)
		text := r.awaitComment(p, push.comment)
		if push.exit != 0 {
			r.Expect(printed).To(ContainSubstring("SecurityGrup"), "the log has the error")
			r.Expect(text).NotTo(ContainSubstring("8443"), "what was true before")
		}
		r.Expect(printed + text).NotTo(ContainSubstring("t0ken"))
	}
	r.Expect(r.kept()).To(Equal(kept), "previews change nothing")
	r.closes(p)
}

// approvesByReview merges what a review has approved. The job approves nothing that it should not.
func (r *reviewed) approvesByReview(p *pull, job func() *pipeline) {
	r.test.Helper()
	digest := ""
	approve := func(nothing string) {
		printed, exit := job().runs(nil)
		r.Expect(exit).To(Equal(0), printed)
		if nothing != "" {
			r.Expect(printed).To(ContainSubstring(nothing))
			r.Expect(r.Get(r.ctx, keyOf(r.stack), r.stack)).To(Succeed())
			r.Expect(r.stack.Annotations[v1.ApproveAnnotation]).NotTo(Equal(digest))
		}
	}
	r.labels(p)
	r.forge.approves(p.number, "jane")
	r.looks()
	digest = r.digestIn(r.awaitComment(p, "8443", p.commit))
	revision := r.merges(p)
	const nobody = " as the comment shows it: nothing is approved"
	approve(nobody) // before the comment
	r.forge.approves(p.number, "reader")
	r.forge.approves(p.number, "stranger")
	approve(nobody)
	r.forge.approves(p.number, "jane")
	shown := p.commit
	r.forge.set(p.number, func(p *pull) { p.commit = strings.Repeat("0", 40) })
	approve("no comment is about " + strings.Repeat("0", 40))
	r.forge.set(p.number, func(p *pull) { p.commit = shown })

	r.look(&sourcev1.GitRepository{}, "infra")
	r.Expect(r.awaitProposal(r.stack, "").Digest).To(Equal(digest))
	r.Expect(r.port()).To(BeEquivalentTo(443))
	approve("")
	r.awaitReady(r.stack, atRevision(revision))
	r.Expect(r.stack.Status.Plan).To(And(HaveField("State", v1.PlanApplied), HaveField("Digest", digest)))
	r.Expect(r.port()).To(BeEquivalentTo(8443))
}

func TestThePipelinesOfGitHub(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, github())
	env := map[string]string{
		"API": strings.TrimSuffix(u.forge.url, "/acme/infra") + "/api/v3", "GH_TOKEN": "t0ken", "REPOSITORY": "acme/infra", "NUMBER": "1", "BOT": forgeUser,
	}
	preview := u.pipelineOf(ofGitHub("preview"), "-e")
	preview.env = env
	u.previewsInCI(preview)

	approved := u.opens("feature", u.with("443", "8443"))
	env["NUMBER"] = "2"
	u.approvesByReview(approved, func() *pipeline {
		job := u.pipelineOf(ofGitHub("approve"), "-e")
		job.env = env
		env["HEAD"] = u.forge.pull(approved.number).commit
		return job
	})
}

func TestThePipelinesOfGitLab(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, gitlab())
	env := map[string]string{
		"CI_API_V4_URL": strings.TrimSuffix(u.forge.url, "/acme/infra") + "/api/v4", "CI_PROJECT_ID": "acme%2Finfra", "CI_MERGE_REQUEST_IID": "1",
		"CI_COMMIT_BRANCH": sources.Branch, "COMMENT_TOKEN": "t0ken", "READ_TOKEN": "t0ken", "BOT": forgeUser,
	}
	preview := u.pipelineOf(ofGitLab("preview"), "-e", "-o", "pipefail")
	preview.env = env
	u.previewsInCI(preview)

	approved := u.opens("feature", u.with("443", "8443"))
	u.approvesByReview(approved, func() *pipeline {
		job := u.pipelineOf(ofGitLab("approve"), "-e", "-o", "pipefail")
		job.env = env
		env["CI_COMMIT_SHA"] = u.forge.pull(approved.number).merged
		return job
	})
}
