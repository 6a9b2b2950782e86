# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# The image of the controller, for linux/amd64 and linux/arm64. docs/image.md says what is in it. `make image` packs the
# same contents without Docker; hack/image is what puts them together, both here and there.

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

FROM scratch
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
