#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/lint.sh MODULE...   checks the code of each module of this project; run it as `make lint`
set -eu

failed=0
fail() {
	echo "lint: $*" >&2
	failed=1
}

root=$PWD
for module in "$@"; do
	# The modules nested in this one are looked at in their own turn.
	echo "lint $module: gofmt, vet, staticcheck"
	unformatted=$(cd "$module" && go list -f '{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .TestGoFiles}}{{$d}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}
{{end}}{{range .IgnoredGoFiles}}{{$d}}/{{.}}
{{end}}' ./... | xargs gofmt -l)
	[ -z "$unformatted" ] || fail "not formatted, run gofmt -w on: $unformatted"
	(cd "$module" && go vet ./...) || fail "go vet in $module"
	(cd "$module" && "$root/bin/staticcheck" ./...) || fail "staticcheck in $module"
done

# actionlint checks the scripts in workflows with shellcheck as well, if it is there.
echo "lint workflows: actionlint"
bin/actionlint -pyflakes= || fail "actionlint"

# It is written in Haskell, so make cannot build it. The runners of GitHub have it.
if command -v shellcheck >/dev/null; then
	echo "lint scripts: shellcheck"
	shellcheck --severity=warning .ci/run hack/*.sh tests/cluster/*.sh || fail "shellcheck"
else
	echo "lint scripts: skipped, there is no shellcheck"
fi

# keep_out fails for each package that depends on what an expression matches. A package may depend on itself.
keep_out() { # EXPRESSION PACKAGE...
	expression=$1
	shift
	for package in "$@"; do
		deps=$(go list -deps "./$package") || {
			fail "go list of $package"
			continue
		}
		found=$(echo "$deps" | grep -E "$expression" | grep -v "/$package\$" | head -3 | tr '\n' ' ')
		[ -z "$found" ] || fail "$package depends on $found"
	done
}

# Observing only reads: a test of the package proves that it has no client that can write.
echo "lint imports: internal/observe depends on nothing that writes"
keep_out '/internal/(gitobjects|notify|publish)$' internal/observe

# The plugin observes Stacks, and must not do what the controller does.
echo "lint imports: internal/cli depends on nothing of the controller but what observes and decides"
keep_out '/internal/(app|controller|gitobjects|policysets|programs|publish|watches)$' internal/cli/command

# The plugin has the code that observes a Stack, and must get nothing of the engine with it.
echo "lint imports: the reconcilers, internal/observe and internal/grammar depend on nothing of Pulumi's"
keep_out '^github\.com/pulumi/|/internal/(pulumi|program/check)$' internal/controller internal/policysets internal/programs internal/observe internal/grammar

# Each of these layers may use those before it, and none after it.
layers="run decide stackstatus publish observe watches controller app"
echo "lint imports: the layers use only those before them: $layers"
above=" $layers"
for layer in $layers; do
	above=${above#" $layer"}
	[ -z "$above" ] || [ ! -d "internal/$layer" ] ||
		keep_out "^github\.com/flux-pulumi/pulumi-controller/internal/($(echo "${above# }" | tr ' ' '|'))\$" "internal/$layer"
done

# Nothing waits for what is reported of Programs and PolicySets.
echo "lint imports: the reconcilers of Stacks, Programs and PolicySets use nothing of each other"
keep_out 'pulumi-controller/internal/(app|controller|policysets|programs)$' internal/controller internal/policysets internal/programs

echo "lint files: main.go is alone at the root, and nothing else reads the environment or exits"
others=$(find . -maxdepth 1 -name '*.go' ! -name '*_test.go' ! -name main.go)
[ -z "$others" ] || fail "not main.go, move it to internal/app: $others"
# The first process of the pod of a run starts the second with the same environment.
others=$(grep -rlE 'os\.(Getenv|LookupEnv|Environ|Exit)\(' --include='*.go' --exclude='*_test.go' internal |
	grep -vx 'internal/run/job/pod/first.go' | tr '\n' ' ')
[ -z "$others" ] || fail "only main.go reads the environment and exits, not $others"

echo "lint status: only internal/stackstatus sets fields of the status of a Stack"
others=$(grep -rnE '[sS]tack\.Status\.[A-Za-z.]+ (=|\+=) ' --include='*.go' --exclude='*_test.go' --exclude-dir=stackstatus internal || true)
[ -z "$others" ] || fail "only internal/stackstatus sets fields of a status, not $others"

# These packages must stay testable without an API server: the decision and the status are pure, Pulumi is driven apart.
echo "lint imports: internal/decide, internal/stackstatus and internal/pulumi use no Kubernetes client"
keep_out '^(k8s\.io/client-go|sigs\.k8s\.io/controller-runtime|github\.com/fluxcd/pkg/runtime)(/|$)' internal/decide internal/stackstatus internal/pulumi

# A plan is a value: what is approved must not depend on how it is made, kept or run.
echo "lint imports: internal/plan depends on no other package of the project but internal/bounded and internal/plural, nor on one of Pulumi's"
keep_out '^github\.com/(flux-pulumi/pulumi-controller/internal/([^bp]|b[^o]|p[^l]|pl[^au])|pulumi/)' internal/plan

# What is masked must not depend on what runs are, or on how Pulumi is driven.
echo "lint imports: internal/mask and internal/pulumi/process depend on no other package of the project, nor on one of Pulumi's"
keep_out '^github\.com/(flux-pulumi|pulumi)/' internal/mask internal/pulumi/process
exit $failed
