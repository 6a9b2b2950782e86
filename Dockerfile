# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# The images of the controller, for linux/amd64 and linux/arm64. docs/image.md says what is in them. `make image` packs the
# contents of the first one without Docker; hack/image is what puts them together, both here and there.

# Pulumi's images of its languages, not later than hack/tools/pulumi: 3.274.1 has to wait for its digests. Where one is missing,
# hack/pulumi-image.sh finds it for a release.
ARG PULUMI_NODEJS=pulumi/pulumi-nodejs:3.259.0
ARG PULUMI_PYTHON=pulumi/pulumi-python:3.259.0
ARG PULUMI_GO=pulumi/pulumi-go:3.259.0@sha256:040f9e9f1cec843bba3b4488253bfdb4414f7429c2000d80d7073ebaf59a2b41
ARG PULUMI_ALL=pulumi/pulumi:3.259.0

# All of it is cross-compiled, so that nothing has to be emulated. The versions of Pulumi and of its YAML host are those of
# hack/tools/pulumi, whose go.sum is what they are checked against.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS build
ARG TARGETOS TARGETARCH
WORKDIR /src

# Pulumi takes minutes to build, and changes least.
COPY Makefile ./
COPY hack/build-tool.sh hack/
COPY hack/tools/pulumi/ hack/tools/pulumi/
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make bin/pulumi bin/pulumi-language-yaml

COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make build LDFLAGS='-s -w' && make image-root ARCH=$TARGETARCH

FROM scratch AS image
COPY --from=build /src/bin/image/base/ /
COPY --from=build /src/bin/image/pulumi/ /
COPY --from=build /src/bin/image/controller/ /
LABEL org.opencontainers.image.title="pulumi-controller" \
      org.opencontainers.image.description="The Flux controller for Pulumi" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/usr/local/bin:/usr/bin:/bin
WORKDIR /
USER 65534:65534
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/pulumi-controller"]

# What is added to an image of Pulumi, whose pulumi looks for language hosts beside itself. It has layers of its own, so that
# nothing has to be emulated, or unpacked, for another architecture.
FROM scratch AS added
COPY --from=image /usr/local/bin/pulumi-controller /usr/local/bin/
COPY --from=image /usr/bin/tini /usr/bin/
COPY --from=image /usr/local/bin/pulumi-language-yaml /pulumi/bin/

FROM ${PULUMI_NODEJS} AS nodejs
COPY --link --from=added / /
WORKDIR /
USER 65534:65534
CMD []
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/pulumi-controller"]

FROM ${PULUMI_PYTHON} AS python
COPY --link --from=added / /
WORKDIR /
USER 65534:65534
CMD []
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/pulumi-controller"]

FROM ${PULUMI_GO} AS go
COPY --link --from=added / /
WORKDIR /
USER 65534:65534
CMD []
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/pulumi-controller"]

# The image with all languages has most of them in directories that are not on the PATH of local runs.
FROM --platform=$BUILDPLATFORM ${PULUMI_ALL} AS links
RUN mkdir /links && for name in bun corepack dotnet go gofmt node npm npx pip pnpm python python3 yarn; do \
      ln -s "$(command -v "$name")" "/links/$name" || exit 1; done

FROM ${PULUMI_ALL} AS all
COPY --link --from=links /links/ /usr/local/bin/
COPY --link --from=added /usr/ /usr/
WORKDIR /
USER 65534:65534
CMD []
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/pulumi-controller"]

# The image with no target is the one without another language.
FROM image
