module github.com/flux-pulumi/pulumi-controller/hack/image

go 1.26.0

require (
	github.com/google/go-containerregistry v0.21.0
	github.com/onsi/gomega v1.42.1
	github.com/spdx/tools-golang v0.5.7
	github.com/ulikunitz/xz v0.5.15
	golang.org/x/crypto/x509roots/fallback v0.0.0-20261030153154-30a33513ff6d
	golang.org/x/sys v0.46.0
)

require (
	github.com/anchore/go-struct-converter v0.1.0 // indirect
	github.com/containerd/stargz-snapshotter/estargz v0.18.2 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/klauspost/compress v1.18.4 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	github.com/vbatts/tar-split v0.12.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.56.0 // indirect
	golang.org/x/sync v0.21.0 // indirect
	golang.org/x/text v0.38.0 // indirect
)
