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

echo "lint workflows: actionlint"
bin/actionlint -shellcheck= -pyflakes= || fail "actionlint"

# The plugin has the code that observes a Stack, and must get nothing of the engine with it.
echo "lint imports: internal/controller and internal/grammar depend on nothing of Pulumi's"
for package in internal/controller internal/grammar; do
	deps=$(go list -deps "./$package") || {
		fail "go list of $package"
		continue
	}
	others=$(echo "$deps" | grep -E '^github\.com/pulumi/|/internal/(pulumi|program/check)$' || true)
	[ -z "$others" ] || fail "$package depends on $(echo "$others" | head -3 | tr '\n' ' ')"
done

# These two packages must stay testable without an API server (docs: the decision is pure, Pulumi is driven apart).
echo "lint imports: internal/decide and internal/pulumi use no Kubernetes client"
for package in internal/decide internal/pulumi; do
	deps=$(go list -deps "./$package/...") || {
		fail "go list of $package"
		continue
	}
	clients=$(echo "$deps" | grep -E '^(k8s\.io/client-go|sigs\.k8s\.io/controller-runtime|github\.com/fluxcd/pkg/runtime)(/|$)' || true)
	[ -z "$clients" ] || fail "$package depends on a Kubernetes client: $(echo "$clients" | head -3 | tr '\n' ' ')"
done

# What is masked must not depend on what runs are, or on how Pulumi is driven.
echo "lint imports: internal/mask depends on no other package of the project, nor on one of Pulumi's"
if deps=$(go list -deps ./internal/mask); then
	others=$(echo "$deps" | grep -E '^github\.com/(flux-pulumi|pulumi)/' | grep -v '/internal/mask$' || true)
	[ -z "$others" ] || fail "internal/mask depends on $(echo "$others" | head -3 | tr '\n' ' ')"
else
	fail "go list of internal/mask"
fi
exit $failed
