# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Needs Go, git and make. Everything else is built from the modules pinned under hack/tools into bin/.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# A go.work around the checkout must not change what is built.
export GOWORK := off

# The modules with code of this project. Those of hack/tools that have any are named where that matters.
MODULES := . api tests/lab tests/clouds hack/image
# What `make generate` writes. Add a path here when a generator is added.
GENERATED := api/v1/zz_generated.deepcopy.go api/v1alpha1/zz_generated.deepcopy.go config/crd/bases config/rbac/role.yaml config/runner-jobs/rights/role.yaml docs/api/v1
# The race detector needs a C compiler, which a machine with only Go, git and make does not have.
# It does not look into hashing: to make a key of a passphrase would take ten times as long, and most of the time of the tests.
# Nor does it look into parsers of YAML, which start no goroutine: most of the time of the tests of flux pulumi install.
UNRACED := golang.org/x/crypto/pbkdf2 crypto/internal/fips140/... go.yaml.in/yaml/v2 go.yaml.in/yaml/v3
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race $(foreach p,$(UNRACED),-gcflags=$(p)=-race=false))
# It makes a test several times as slow, and finds what goroutines do to each other: where neither the code of a package nor
# its tests start any, or lock anything, there is nothing to find.
CONCURRENT = $(shell hack/packages.sh concurrent)
SERIAL     = $(shell hack/packages.sh serial)
# With the flags of the programs, so that vet, staticcheck and the tests find compiled what those are made of, and the other
# way round: for a machine that has compiled nothing yet, that is minutes. The race detector needs all of it anew anyway.
AS_PROGRAMS := CGO_ENABLED=0 GOFLAGS='$(strip $(shell go env GOFLAGS) -trimpath)'
# Nobody debugs a program that is linked for one run of the tests, and without what debuggers need it is a quarter less work.
# Nothing is compiled once more for that.
TEST_LDFLAGS = -ldflags=-w
# They begin first, so that the short ones fill what is left in the end.
LONGEST_UNIT_TESTS = ./internal/pulumi ./internal/controller

# The demo must not have to wait for what only the tests use.
DEMO_TOOLS := bin/etcd bin/kube-apiserver bin/pulumi bin/pulumi-language-yaml bin/source-controller bin/flux \
	bin/lab/pulumi-resource-lab bin/crds/source-controller
TOOLS := $(DEMO_TOOLS) bin/lab/pulumi-resource-standin bin/lab/pulumi-resource-clouds bin/lab/pulumi-analyzer-lab bin/lab/pulumi-language-lab bin/lab/pulumi-language-nodejs bin/lab/pulumi-language-go bin/lab/pulumi-language-python bin/kubectl bin/kube-controller-manager bin/notification-controller bin/kustomize-controller bin/flux-operator bin/versitygw bin/kustomize \
	bin/crds/notification-controller bin/crds/kustomize-controller bin/crds/flux-operator bin/crds/types bin/pack-image \
	bin/manifests/source-controller bin/manifests/kustomize-controller bin/manifests/notification-controller bin/manifests/flux \
	bin/typescript bin/nodejs
# What the tests of packages start.
UNIT_TOOLS := bin/pulumi bin/pulumi-language-yaml bin/lab/pulumi-resource-lab bin/lab/pulumi-analyzer-lab bin/lab/pulumi-language-lab bin/lab/pulumi-language-nodejs bin/lab/pulumi-language-python bin/etcd bin/kube-apiserver \
	bin/crds/source-controller bin/crds/kustomize-controller bin/nodejs
# What a Kubernetes node is made of, and the images that Flux and the controller are started from on it.
FLUX_CONTROLLERS := source-controller kustomize-controller notification-controller
CLUSTER_TOOLS := bin/etcd bin/kube-apiserver bin/kube-controller-manager bin/kube-scheduler bin/kubelet bin/kube-proxy bin/coredns \
	bin/kubectl bin/cluster bin/node/root bin/images/pause.tar
CLUSTER_IMAGES := bin/images/pulumi-controller.tar $(FLUX_CONTROLLERS:%=bin/images/%.tar)
# A second job, where make was not told of any.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j2)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: build cli ## Show the controller at work here (KEEP=1 keeps it running)
	@$(SUBMAKE) $(DEMO_TOOLS)
	@$(AS_PROGRAMS) go run ./tests/demo

.PHONY: check
check: bin/staticcheck $(UNIT_TOOLS) ## Vet and test only the packages that differ from main
	@$(AS_PROGRAMS) hack/check.sh $(MODULES)

.PHONY: test
test: ## Run all packages, and each feature end to end
	@$(MAKE) --no-print-directory test-unit SHORT=-short
	@$(MAKE) --no-print-directory test-e2e SHORT=-short

.PHONY: test-all
test-all: ## Run every test but those on a node and the nightly ones
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-long

# What make test leaves out, see tests/short.
LONG_UNIT_TESTS = $(shell hack/long-tests.sh packages internal cmd)
.PHONY: test-long
test-long: tools build cli ## Run only the tests that make test leaves out
	@rm -f bin/killed-at-random.txt
	go test $(RACE) $(TEST_LDFLAGS) -timeout 30m -run "$$(hack/long-tests.sh names internal cmd)" $(filter $(CONCURRENT),$(LONG_UNIT_TESTS))
	$(AS_PROGRAMS) go test $(TEST_LDFLAGS) -timeout 30m -run "$$(hack/long-tests.sh names internal cmd)" $(filter-out $(CONCURRENT),$(LONG_UNIT_TESTS))
	$(AS_PROGRAMS) go test -count=1 $(TEST_LDFLAGS) -p 3 -timeout 45m -run "$$(hack/long-tests.sh names tests)" \
		$(filter $(shell hack/long-tests.sh packages tests),$(LONGEST_TESTS)) $$(hack/long-tests.sh packages tests)
	@cat bin/killed-at-random.txt

.PHONY: test-unit
test-unit: $(UNIT_TOOLS) ## Run the tests of the packages, against the real Pulumi
	$(if $(RACE),,@echo "no C compiler found: testing without the race detector")
	go test $(RACE) $(TEST_LDFLAGS) $(SHORT) -timeout 30m $(LONGEST_UNIT_TESTS) $(CONCURRENT)
	$(AS_PROGRAMS) go test $(TEST_LDFLAGS) $(SHORT) -timeout 30m $(SERIAL)
	cd api && go test $(RACE) $(TEST_LDFLAGS) ./...
	cd tests/lab && go test $(RACE) $(TEST_LDFLAGS) ./...
	cd hack/image && go test $(RACE) $(TEST_LDFLAGS) ./...

# How long each target is fuzzed, or with how many inputs (500x). A time that is over before the inputs that there are have
# been tried is a failure, as it can be on a busy machine: a number cannot.
FUZZTIME ?= 10s

.PHONY: fuzz
fuzz: ## Fuzz all that reads what others write, each target for FUZZTIME
	@hack/fuzz.sh $(FUZZTIME) $(MODULES)

# They begin first, so that the short ones fill what is left in the end. Those of tests/jobs wait for most of their time: a third
# package at a time took 14 minutes 41 in place of 16 minutes 44 on two processors.
LONGEST_TESTS := ./tests/e2e ./tests/jobs ./tests/crash ./tests/demo ./tests/bootstrap

.PHONY: test-e2e
test-e2e: tools build cli ## Run the tests against all real components
	@rm -f bin/killed-at-random.txt
	@echo "the tests of tests/cluster are skipped here: they need a Kubernetes node, see make e2e"
	$(AS_PROGRAMS) go test -count=1 $(TEST_LDFLAGS) $(SHORT) -p 3 -timeout 45m $(LONGEST_TESTS) ./tests/...
	$(if $(SHORT),,@cat bin/killed-at-random.txt)

.PHONY: test-browser
test-browser: $(DEMO_TOOLS) build cli bin/chromium bin/axe ## Test the page of flux pulumi ui in Chromium
	$(AS_PROGRAMS) go test -count=1 $(TEST_LDFLAGS) ./tests/browser

.PHONY: pictures
pictures: $(DEMO_TOOLS) build cli bin/chromium ## Take the pictures of the page for the documentation
	$(AS_PROGRAMS) PICTURES=../../docs/pictures go test -count=1 ./tests/browser -run TestThePageOfARealSystem

.PHONY: recording
recording: ## Record the demo as docs/pictures/demo.svg
	@$(AS_PROGRAMS) go run ./tests/demo/recording docs/pictures/demo.svg $(MAKE) --no-print-directory demo

.PHONY: cluster-tools
cluster-tools: ## Build what a Kubernetes node is made of (5 minutes)
	@$(SUBMAKE) $(CLUSTER_TOOLS)

.PHONY: cluster-up
cluster-up: cluster-tools ## Start a Kubernetes node here, as root, and print its KUBECONFIG
	@bin/cluster up

.PHONY: cluster-down
cluster-down: ## End it, and remove all that was of it
	@[ ! -x bin/cluster ] || bin/cluster down

.PHONY: cluster-images
cluster-images: build ## Pack images of Flux, the controller and test providers
	@$(SUBMAKE) $(CLUSTER_IMAGES) $(FLUX_CONTROLLERS:%=bin/manifests/%) bin/manifests/flux

.PHONY: e2e
e2e: ## Run the tests on a real node, or on the cluster of KUBECONFIG
	@$(AS_PROGRAMS) hack/e2e.sh $(E2E_FLAGS)

.PHONY: test-nightly
test-nightly: tools build ## Kill in 200 rounds, and run 50 Stacks for 5 minutes
	$(AS_PROGRAMS) go test -v -count=1 -timeout 4h ./tests/crash -rounds 200 -soak-stacks 50 -soak-time 5m

.PHONY: bench
bench: tools build ## Compare Stacks with bare Pulumi, and measure many Stacks
	@$(AS_PROGRAMS) go run ./tests/bench

.PHONY: lint
lint: bin/staticcheck bin/actionlint ## Check format, vet, staticcheck, workflows, scripts, imports
	@$(AS_PROGRAMS) hack/lint.sh $(MODULES) hack/tools/coredns

.PHONY: generate
generate: bin/controller-gen bin/crd-ref-docs ## Write deepcopy code, CRDs, RBAC and the API reference
	cd api && ../bin/controller-gen object:headerFile=../hack/boilerplate.go.txt \
		crd output:crd:artifacts:config=../config/crd/bases paths=./...
	$(AS_PROGRAMS) go run ./hack/crds config/crd/bases
	bin/controller-gen rbac:roleName=pulumi-controller output:rbac:artifacts:config=config/rbac paths=./internal/controller/... paths=./internal/programs/... paths=./internal/policysets/... paths=./internal/plankey/... paths=./internal/publish/... paths=./internal/gitobjects/...
	bin/controller-gen rbac:roleName=pulumi-controller-jobs output:rbac:artifacts:config=config/runner-jobs/rights paths=./internal/run/job/...
	cd api && ../bin/crd-ref-docs --source-path=./v1 --config=../hack/api-docs/config.yaml --templates-dir=../hack/api-docs/templates \
		--renderer=markdown --log-level=ERROR --output-path=../docs/api/v1/pulumi.md

# Not the modules that only pin a program: go mod tidy downloads what the tests of its dependencies need, two minutes of that,
# and go build refuses a go.mod that lacks anything.
.PHONY: verify
verify: generate ## Check that generated files and go.mod files are up to date
	@hack/verify.sh "$(MODULES) hack/tools/coredns hack/tools/crds" "$(GENERATED)"

.PHONY: tools
tools: ## Build the programs that tests, demo and bench use (20 minutes)
	@$(SUBMAKE) $(TOOLS)

# Where the controller is built to.
BIN := bin
# Without what debuggers need (-s -w) all has to be compiled once more than for the tests: a release does so.
LDFLAGS ?=

.PHONY: build
build: ## Build the controller as bin/pulumi-controller
	@mkdir -p $(BIN)
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(BIN)/pulumi-controller .

# The version that the command line tells, and whose image it installs.
CLI_VERSION ?= 0.0.0-dev.0

.PHONY: cli
cli: ## Build the flux plugin as bin/flux-pulumi
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS) -X main.version=$(CLI_VERSION)' -o bin/flux-pulumi ./cmd/flux-pulumi

# The plugin for all platforms, as Flux's catalogue of plugins wants it.
.PHONY: release-cli
release-cli:
	@hack/release-cli.sh "$(CLI_VERSION)" bin/release/cli

# What the manifests call the image.
MANAGER_IMAGE  := ghcr.io/flux-pulumi/pulumi-controller
# What the image in the archive is called, its architecture, and the commit that it tells of.
IMAGE          ?= $(MANAGER_IMAGE):latest
ARCH           ?= $(shell go env GOARCH)
IMAGE_REVISION ?=
# Where the archive goes, and the bill of materials of the image, if one is wanted.
IMAGE_ARCHIVE  ?= bin/image.tar
IMAGE_SBOM     ?=
# Where packages of Debian come from, if not from where the apt of this machine installs: mirrors, separated by spaces. Those
# have only the current versions of packages; one of a snapshot has all of its day.
DEBIAN_MIRRORS ?=
PACK_IMAGE      = bin/pack-image -arch $(ARCH) -revision "$(IMAGE_REVISION)" -mirrors "$(DEBIAN_MIRRORS)"

# What is built for another architecture must not take the place of what the tests run.
IMAGE_BIN      := $(if $(filter $(ARCH),$(shell go env GOHOSTARCH)),bin,bin/$(ARCH))

.PHONY: image
image: $(IMAGE_BIN)/pulumi $(IMAGE_BIN)/pulumi-language-yaml bin/pack-image ## Pack the image of the controller as bin/image.tar
	@GOARCH=$(ARCH) $(MAKE) --no-print-directory build BIN=$(IMAGE_BIN)
	@$(PACK_IMAGE) -bin $(IMAGE_BIN) -name $(IMAGE) -o $(IMAGE_ARCHIVE) $(if $(IMAGE_SBOM),-sbom $(IMAGE_SBOM))

# The contents of the image by its layers, for the Dockerfile.
.PHONY: image-root
image-root: bin/pack-image
	@rm -rf bin/image
	@$(PACK_IMAGE) -root bin/image

# What the Deployments of Flux name, each with nothing but its program.
bin/images/%-controller.tar: bin/%-controller bin/pack-image
	@mkdir -p $(@D)
	@bin/pack-image -program $< -o $@ -name fluxcd/$*-controller:$$(cd hack/tools/$*-controller && go list -m -f '{{.Version}}' github.com/fluxcd/$*-controller)

bin/images/pause.tar: bin/pause bin/pack-image
	@mkdir -p $(@D)
	@bin/pack-image -program $< -o $@ -name pulumi-controller.test/pause:1

# The image of the controller, which finds the providers of tests/lab among its plugins: the start is another one, the rest as it is.
# The pod of a run takes plugins from where an administrator mounts them. With /plugins and cp it is an image of plugins, too.
TEST_PLUGINS := lab-v0.1.0:lab aws-v5.42.0:standin gcp-v6.67.0:standin kubernetes-v4.18.0:standin random-v4.16.0:standin
bin/images/pulumi-controller.tar: bin/pulumi-controller bin/pulumi bin/pulumi-language-yaml bin/pack-image \
		bin/lab/pulumi-resource-lab bin/lab/pulumi-resource-standin tests/cluster/with-plugins.sh
	@rm -rf bin/images/plugins && mkdir -p bin/images/plugins/lab
	@cp -L bin/lab/pulumi-resource-lab bin/lab/pulumi-resource-standin bin/images/plugins/lab/
	@cp tests/cluster/with-plugins.sh bin/images/plugins/lab/start
	@set -e; for plugin in $(TEST_PLUGINS); do \
		dir=bin/images/plugins/pulumi-plugins/resource-$${plugin%%:*}; mkdir -p $$dir; \
		ln -s /lab/pulumi-resource-$${plugin##*:} $$dir/pulumi-resource-$${plugin%%-v*}; done
	@mkdir -p bin/images/plugins/plugins/resource-lab-v0.1.0 bin/images/plugins/usr/bin
	@cp -L bin/lab/pulumi-resource-lab bin/images/plugins/plugins/resource-lab-v0.1.0/
	@ln -s busybox bin/images/plugins/usr/bin/cp
	@bin/pack-image -mirrors "$(DEBIAN_MIRRORS)" -name $(MANAGER_IMAGE):latest -add bin/images/plugins \
		-entrypoint "/usr/bin/tini -- /bin/sh /lab/start" -o $@
	@rm -rf bin/images/plugins

# Flux's own manifests, each of a controller, which tests/cluster/flux puts together.
bin/manifests/%: hack/tools/%/go.mod hack/tools/%/go.sum
	@cd $(<D) && (go mod download github.com/fluxcd/$* || go mod download github.com/fluxcd/$*)
	@rm -rf $@ && mkdir -p $@
	@cp -R "$$(cd $(<D) && go list -m -f '{{.Dir}}' github.com/fluxcd/$*)"/config/crd "$$(cd $(<D) && go list -m -f '{{.Dir}}' github.com/fluxcd/$*)"/config/manager $@/
	@chmod -R u+w $@ && touch $@

# The NetworkPolicies that flux install adds to them.
bin/manifests/flux: hack/tools/flux/go.mod hack/tools/flux/go.sum
	@cd $(<D) && (go mod download github.com/fluxcd/flux2/v2 || go mod download github.com/fluxcd/flux2/v2)
	@rm -rf $@ && mkdir -p $@
	@cp -R "$$(cd $(<D) && go list -m -f '{{.Dir}}' github.com/fluxcd/flux2/v2)"/manifests/policies $@/
	@chmod -R u+w $@ && touch $@

bin/cluster: $(shell find tests/cluster tests/process tests/controlplane -name '*.go' 2>/dev/null)
	@mkdir -p bin
	@CGO_ENABLED=0 go build -trimpath -o $@ ./tests/cluster/cmd/cluster
	@touch $@

bin/pause: tests/cluster/pause/main.go
	@mkdir -p bin
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $@ ./tests/cluster/pause
	@touch $@

bin/node/root: hack/node-packages.sh
	@hack/node-packages.sh bin/node
	@touch $@

# What finds in the page what a screen reader or a keyboard cannot use.
bin/axe: tests/browser/packages/package-lock.json
	@rm -rf $@ && mkdir -p $@ && cp tests/browser/packages/*.json $@/
	@cd $@ && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >/dev/null || \
		echo "npm cannot install axe: it does not look at the page" >&2

# What the tests of the page run in, where there is a way to Debian's archive.
bin/chromium: hack/chromium-packages.sh
	@hack/chromium-packages.sh $@
	@touch $@

# It runs on this machine, whatever is built for another one.
bin/pack-image: $(wildcard hack/image/*)
	@mkdir -p bin
	@env -u GOOS -u GOARCH CGO_ENABLED=0 go build -C hack/image -trimpath -o ../../bin/pack-image .
	@touch $@

# VERSION has no v.
.PHONY: release
release: ## Make all files of a release, and check them (VERSION=1.2.3)
	@hack/release.sh "$(VERSION)" bin/release

.PHONY: test-release
test-release: ## Install a release on a node, upgrade to it and back (VERSION=)
	@hack/test-release.sh "$(VERSION)" "$(FROM)"

# What a release is made of, with its image: config for the OCI artifact, and files to download.
.PHONY: release-manifests
release-manifests: bin/kustomize
	@hack/release-manifests.sh '$(IMAGE)' bin/release

.PHONY: scan
scan: build bin/pulumi bin/pulumi-language-yaml bin/govulncheck ## Look for known vulnerabilities in what the image is built from
	@hack/scan.sh $(MODULES)

.PHONY: site
site: bin/site/node_modules ## Build docs as a site that one can search, in bin/site/pages
	@hack/site.sh

bin/site/node_modules: hack/site/package-lock.json
	@mkdir -p $(@D) && cp hack/site/package.json hack/site/package-lock.json $(@D)
	@cd $(@D) && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error && touch node_modules

.PHONY: clean
clean: ## Remove bin/
	rm -rf bin

# tool: program, module under hack/tools, main package, module that has its version, duration of a first build
define tool
bin/$(1) bin/amd64/$(1) bin/arm64/$(1): hack/tools/$(2)/go.mod hack/tools/$(2)/go.sum
	@hack/build-tool.sh $$@ hack/tools/$(2) $(3) $(4) "$(5)"
endef

$(eval $(call tool,etcd,etcd,go.etcd.io/etcd/server/v3,go.etcd.io/etcd/server/v3,1 minute))
$(eval $(call tool,kube-apiserver,kubernetes,k8s.io/kubernetes/cmd/kube-apiserver,k8s.io/kubernetes,8 minutes))
$(eval $(call tool,kube-controller-manager,kubernetes,k8s.io/kubernetes/cmd/kube-controller-manager,k8s.io/kubernetes,1 minute))
$(eval $(call tool,kube-scheduler,kubernetes,k8s.io/kubernetes/cmd/kube-scheduler,k8s.io/kubernetes,20 seconds))
$(eval $(call tool,kubelet,kubernetes,k8s.io/kubernetes/cmd/kubelet,k8s.io/kubernetes,1 minute))
$(eval $(call tool,kube-proxy,kubernetes,k8s.io/kubernetes/cmd/kube-proxy,k8s.io/kubernetes,10 seconds))
$(eval $(call tool,coredns,coredns,.,github.com/coredns/coredns,30 seconds))
$(eval $(call tool,kubectl,kubernetes,k8s.io/kubernetes/cmd/kubectl,k8s.io/kubernetes,1 minute))
$(eval $(call tool,pulumi,pulumi,github.com/pulumi/pulumi/pkg/v3/cmd/pulumi,github.com/pulumi/pulumi/pkg/v3,8 minutes))
$(eval $(call tool,pulumi-language-yaml,pulumi,github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml,github.com/pulumi/pulumi-yaml,20 seconds))
$(eval $(call tool,source-controller,source-controller,github.com/fluxcd/source-controller,github.com/fluxcd/source-controller,8 minutes))
$(eval $(call tool,notification-controller,notification-controller,github.com/fluxcd/notification-controller,github.com/fluxcd/notification-controller,3 minutes))
$(eval $(call tool,kustomize-controller,kustomize-controller,github.com/fluxcd/kustomize-controller,github.com/fluxcd/kustomize-controller,2 minutes))
$(eval $(call tool,flux-operator,flux-operator,github.com/controlplaneio-fluxcd/flux-operator/cmd/operator,github.com/controlplaneio-fluxcd/flux-operator,4 minutes))
$(eval $(call tool,versitygw,versitygw,github.com/versity/versitygw/cmd/versitygw,github.com/versity/versitygw,1 minute))
$(eval $(call tool,controller-gen,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen,sigs.k8s.io/controller-tools,15 seconds))
$(eval $(call tool,crd-ref-docs,crd-ref-docs,github.com/elastic/crd-ref-docs,github.com/elastic/crd-ref-docs,30 seconds))
$(eval $(call tool,actionlint,actionlint,github.com/rhysd/actionlint/cmd/actionlint,github.com/rhysd/actionlint,10 seconds))
$(eval $(call tool,flux,flux,github.com/fluxcd/flux2/v2/cmd/flux,github.com/fluxcd/flux2/v2,8 minutes))
$(eval $(call tool,kustomize,kustomize,sigs.k8s.io/kustomize/kustomize/v5,sigs.k8s.io/kustomize/kustomize/v5,30 seconds))
$(eval $(call tool,govulncheck,govulncheck,golang.org/x/vuln/cmd/govulncheck,golang.org/x/vuln,15 seconds))
$(eval $(call tool,staticcheck,staticcheck,honnef.co/go/tools/cmd/staticcheck,honnef.co/go/tools,15 seconds))

# It has code of its own.
bin/coredns: hack/tools/coredns/main.go

# The language host shares most packages with the CLI: after it, it takes seconds instead of minutes.
bin/pulumi-language-yaml: | bin/pulumi
bin/amd64/pulumi-language-yaml: | bin/amd64/pulumi
bin/arm64/pulumi-language-yaml: | bin/arm64/pulumi

# Not in bin/ itself: Pulumi takes a plugin beside its own program for an ambient one, and warns of it with each diagnostic.
# pulumi-language-lab is the host of a language of its own, whose programs need an installation before they run. The hosts of
# Node.js and Go run real programs, and that of Python installs real packages: those of Pulumi are in no module.
# pulumi-resource-standin stands in for the providers of clouds, under the name that it is started by.
bin/lab/pulumi-%: $(shell find tests/lab -name '*.go' -o -name 'go.*' 2>/dev/null)
	@echo "building pulumi-$* (first time takes about 1 minute)..."
	@mkdir -p bin
	@CGO_ENABLED=0 go build -C tests/lab -trimpath -o ../../bin/lab/pulumi-$* ./cmd/pulumi-$*
	@touch $@

# In a module of its own, because of the SDKs of three clouds.
bin/lab/pulumi-resource-clouds: $(shell find tests/clouds -name '*.go' -o -name 'go.*' 2>/dev/null)
	@echo "building pulumi-resource-clouds (first time takes about 1 minute)..."
	@mkdir -p bin/lab
	@CGO_ENABLED=0 go build -C tests/clouds -trimpath -o ../../$@ ./cmd/pulumi-resource-clouds
	@touch $@

# Tests install the CRDs of Flux's controllers, and of the one that is not Flux's own, from here, so that they need no module cache.
bin/crds/%: MODULE = github.com/fluxcd/$*
bin/crds/flux-operator: MODULE = github.com/controlplaneio-fluxcd/flux-operator
bin/crds/%: hack/tools/%/go.mod hack/tools/%/go.sum
	@echo "copying the CRDs of $*"
	@cd $(<D) && (go mod download $(MODULE) || go mod download $(MODULE))
	@rm -rf $@ && mkdir -p $@
	@cp "$$(cd $(<D) && go list -m -f '{{.Dir}}' $(MODULE))"/config/crd/bases/*.yaml $@/
	@chmod u+w $@/*.yaml && touch $@

# Those of other controllers are in no module: they are written from the types of the APIs. Of the Prometheus operator's,
# an API server works for seconds on each of those that nothing here has.
bin/crds/types: hack/tools/crds/go.mod hack/tools/crds/go.sum hack/tools/crds/apis.go bin/controller-gen
	@echo "writing the CRDs of the APIs in $(<D)"
	@rm -rf $@
	@cd $(<D) && (go mod download || go mod download)
	@cd $(<D) && for api in $$(go list -f '{{join .Imports " "}}' .); do \
		../../../bin/controller-gen crd paths=$$api output:crd:artifacts:config=../../../$@ || exit 1; done
	@find $@ -name 'monitoring.*' ! -name '*_podmonitors.yaml' -delete && touch $@

# What runs the programs in TypeScript. The examples have the same packages.
bin/typescript: hack/node-modules.sh examples/bootstrap-flux-with-pulumi/package-lock.json
	@hack/node-modules.sh examples/bootstrap-flux-with-pulumi $@

# What programs in TypeScript and JavaScript are tested with: Pulumi's package, the compiler and pnpm.
bin/nodejs: hack/node-modules.sh tests/languages/packages/package-lock.json
	@hack/node-modules.sh tests/languages/packages $@ tarballs
