// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/programerror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestNeedsInstall(t *testing.T) {
	t.Parallel()
	runs := func(operation run.Operation, program bool) run.Run {
		return run.Run{Operation: operation, Options: run.Options{RunProgram: program}}
	}
	update := runs(run.Update, false)
	for name, test := range map[string]struct {
		run        run.Run
		project    string
		noDownload bool
		want       bool
		wantErr    error
	}{
		"an update":                            {run: update, project: "nodejs", want: true},
		"a preview":                            {run: runs(run.Preview, false), project: "python", want: true},
		"a destroy":                            {run: runs(run.Destroy, false), project: "nodejs"},
		"a destroy that runs the program":      {run: runs(run.Destroy, true), project: "nodejs", want: true},
		"a recovery":                           {run: runs(run.Recover, false), project: "nodejs"},
		"a recovery that runs the program":     {run: runs(run.Recover, true), project: "nodejs", want: true},
		"reading outputs":                      {run: runs(run.ReadOutputs, true), project: "nodejs"},
		"nothing may be downloaded by Pulumi":  {run: update, project: "nodejs", noDownload: true, want: true},
		"YAML":                                 {run: update, project: "yaml"},
		"YAML with packages":                   {run: update, project: "yaml\npackages: {random: random@4.16.0}", want: true},
		"YAML with packages in its source":     {run: update, project: "yaml\npackages: {random: random@4.16.0}", noDownload: true},
		"packages that may not be downloaded":  {run: update, project: "nodejs\npackages: {random: random@4.16.0}", noDownload: true, wantErr: errPackages},
		"packages of a destroy from its state": {run: runs(run.Destroy, false), project: "nodejs\npackages: {random: random@4.16.0}", noDownload: true},
		"Go":                                   {run: update, project: "go", want: true},
		"Go that is built":                     {run: update, project: "{name: go, options: {binary: bin/program}}"},
		"Go that is built, with packages":      {run: update, project: "{name: go, options: {binary: bin/program}}\npackages: {random: random@4.16.0}", want: true},
		"an option of another language":        {run: update, project: "{name: nodejs, options: {binary: bin/program}}", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			project, err := workspace.LoadProjectBytes([]byte("name: demo\nruntime: "+test.project+"\n"), "Pulumi.yaml", encoding.YAML)
			g.Expect(err).NotTo(HaveOccurred())
			got, err := needsInstall(test.run, needsOf(project), test.noDownload)
			g.Expect(got).To(Equal(test.want))
			g.Expect(errors.Is(err, test.wantErr)).To(BeTrue())
		})
	}
}

func TestMessageOfAFailedInstallation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stdout, stderr string
		want           string
	}{
		"npm": {
			stdout: "Installing dependencies...\n\n",
			stderr: "npm warn deprecated x@1\nnpm error code E404\nnpm error 404 Not Found - GET https://r.example/x\nnpm error\n" +
				"npm error 404\nnpm error A complete log of this run can be found in: /home/.npm/_logs/x-debug-0.log\nerror: installing dependencies: exit status 1\nexit status 1\n",
			want: "npm error 404 Not Found - GET https://r.example/x\nnpm error code E404",
		},
		"pip": {
			stdout: "Installing dependencies...\nCollecting nosuch\n",
			stderr: "  ERROR: Could not find a version that satisfies the requirement nosuch\nERROR: No matching distribution found for nosuch\n" +
				"[notice] A new release of pip is available\nerror: installing dependencies: exit status 1\n",
			want: "  ERROR: Could not find a version that satisfies the requirement nosuch\nERROR: No matching distribution found for nosuch",
		},
		"the CLI alone": {
			stderr: "error: load language plugin nodejs: no language plugin 'pulumi-language-nodejs' found\n",
			want:   "load language plugin nodejs: no language plugin 'pulumi-language-nodejs' found",
		},
		"nothing that claims to be an error": {
			stdout: "one\ntwo\n", stderr: "three\nerror: installing dependencies: exit status 2\n", want: "one\ntwo\nthree",
		},
		"what the CLI repeats": {
			stderr: "go: x@v1: not found\nerror: installing dependencies: `go mod tidy` failed: exit status 1, stderr:\ngo: x@v1: not found\n",
			want:   "go: x@v1: not found\n`go mod tidy` failed: exit status 1, stderr:",
		},
		"a file that npm cannot read": {
			stderr: "npm error code EACCES\nnpm error syscall open\nnpm error path /x\nnpm error errno -13\nnpm error Error: EACCES: permission denied, open '/x'\n" +
				"error: installing dependencies: exit status 1\n",
			want: "npm error Error: EACCES: permission denied, open '/x'\nnpm error code EACCES\nnpm error syscall open\nnpm error path /x\nnpm error errno -13",
		},
		"Go without a module": {
			stderr: "go: downloading example.com/a v1.0.0\nerror: installing dependencies: `go mod tidy` failed to install dependencies: exit status 1:\n" +
				"go: finding module for package example.com/b\ngo: example.com/infra imports\n\texample.com/b: module example.com/b: 404 Not Found\n\tserver response: not found\n",
			want: "go: example.com/infra imports example.com/b: module example.com/b: 404 Not Found\n\tserver response: not found\n" +
				"`go mod tidy` failed to install dependencies: exit status 1:\ngo: finding module for package example.com/b",
		},
		"what the CLI joins": {
			stderr: "error: installing dependencies: could not find npm\nInstall npm\ncould not find npm\nInstall npm\n",
			want:   "could not find npm\nInstall npm",
		},
		"npm with a trace": {
			stderr: "npm error code ECONNREFUSED\nnpm error     at onSocketNT (node:_http_client:904:5)\nnpm error network\nerror: installing dependencies: exit status 1\n",
			want:   "npm error code ECONNREFUSED",
		},
		"nothing": {want: "Pulumi ended with exit code 1"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(installText(test.stdout, test.stderr, exit{code: 1})).To(Equal(test.want))
		})
	}
}

func TestMessageOfAFailedInstallationIsBounded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	many := strings.Repeat("npm error a line that says a bit\n", 1000)
	text := installText("", "reading\nnpm error the beginning\n"+many+"npm error the end\nerror: installing dependencies: exit status 1\n", exit{code: 1})
	g.Expect(text).To(And(HavePrefix("npm error the beginning\n"), ContainSubstring("\n...\n"), HaveSuffix("npm error the end")))
	g.Expect(len(strings.Split(text, "\n"))).To(Equal(2*maxInstallLines + 1))
	text = installText("", "npm error "+strings.Repeat("x", 1<<20)+"\nerror: "+strings.Repeat("y", 1<<20), exit{code: 1})
	g.Expect(len(text)).To(BeNumerically("<", 4*maxInstallText))
}

func TestAnInstallationThatIsKilledNamesTheLimit(t *testing.T) {
	t.Parallel()
	const limit = "raise the memory limit of the container that runs Pulumi, which is 512Mi"
	for name, test := range map[string]struct {
		last   exit
		stderr string
		killed bool
		want   string
	}{
		"Pulumi":   {exit{code: -1, signal: "killed"}, "", true, "Pulumi was killed (OOMKilled): " + limit},
		"npm":      {exit{code: -1, signal: "killed", tool: "npm"}, "", false, "npm was ended by a signal (killed): if it was out of memory, " + limit},
		"a script": {exit{code: 1}, "npm error signal SIGKILL", true, "npm error signal SIGKILL (" + limit + ")"},
		"a compiler": {
			exit{code: 1}, "go: example.com/a: compile: signal: killed", false, "go: example.com/a: compile: signal: killed (if it was out of memory, " + limit + ")",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			memory := programerror.Memory{Limit: 512 << 20, Killed: test.killed}
			outcome, message := outcomeOfInstall(ending{last: test.last, stderr: test.stderr + "\nerror: installing dependencies: exit status 1", program: programerror.Program{Memory: memory}})
			g.Expect(outcome).To(Equal(run.Failed))
			g.Expect(message).To(Equal(installing + ": " + test.want))
		})
	}
}

func TestADependencyThatIsOutOfReach(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"npm error code ENOTFOUND":   true,
		"npm error code ETIMEDOUT":   true,
		"npm ERR! code ECONNREFUSED": true,
		"npm error code E503":        true,
		"npm error code E404":        false,
		"npm error code ERESOLVE":    false,
		"error An unexpected error occurred: \"getaddrinfo EAI_AGAIN r.x\"":                                  true,
		"WARNING: Retrying (Retry(total=4, connect=None)) after connection broken":                           true,
		"ERROR: HTTPSConnectionPool(host='pypi.example', port=443): Max retries exceeded with url":           true,
		"ERROR: No matching distribution found for nosuch":                                                   false,
		"error: Connection to pypi.example timed out":                                                        true,
		"error: Connection to pypi.example failed":                                                           true,
		"go: x: Get \"https://proxy.example/x\": dial tcp: lookup proxy.example: no such host":               true,
		"go: x: Get \"https://proxy.example/x\": dial tcp 1.2.3.4:443: i/o timeout":                          true,
		"go: x@v9: reading https://proxy.example/x/@v/v9.info: 404 Not Found":                                false,
		"go: x@v9: reading https://proxy.example/x/@v/v9.info: 503 Service Unavailable":                      true,
		"error: Failed to fetch: `https://pypi.example/simple/x/`\n  Caused by: dns error: failed to lookup": true,
		"fatal: unable to access 'https://git.example/x/': Could not resolve host: git.example":              true,
		"SyntaxError: Unexpected token in JSON at position 503":                                              false,
	} {
		NewWithT(t).Expect(isDependencyAway(text)).To(Equal(want), text)
	}
}
