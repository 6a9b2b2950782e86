// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fluxcd/pkg/tar"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/minio/minio-go/v7"
	. "github.com/onsi/gomega"
)

func TestGitServesEveryCommitToAClone(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	server, err := NewGitServer(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(server.Close()).To(Succeed()) }()
	repo, err := server.NewRepo(ctx, "app")
	g.Expect(err).NotTo(HaveOccurred())

	first, err := repo.Commit(ctx, Files{"Pulumi.yaml": "name: app\n", "deep/er/file": "one"}, "first")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first).To(MatchRegexp("^[0-9a-f]{40}$"))
	clone := filepath.Join(t.TempDir(), "clone")
	_, err = runGit(ctx, t.TempDir(), "clone", "--quiet", repo.URL(), clone)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(runGit(ctx, clone, "rev-parse", "HEAD")).To(Equal(first))
	g.Expect(runGit(ctx, clone, "rev-parse", "--abbrev-ref", "HEAD")).To(Equal(Branch))
	g.Expect(filepath.Join(clone, "deep", "er", "file")).To(BeARegularFile())

	second, err := repo.Remove(ctx, "second", "deep")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = runGit(ctx, clone, "pull", "--quiet")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(runGit(ctx, clone, "rev-parse", "HEAD")).To(Equal(second))
	g.Expect(filepath.Join(clone, "deep")).NotTo(BeADirectory())
	g.Expect(filepath.Join(clone, "Pulumi.yaml")).To(BeARegularFile())
}

func TestGitRefusesWhatIsNotThere(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	server, err := NewGitServer(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(server.Close()).To(Succeed()) }()
	g.Expect(exec.CommandContext(ctx, "git", "ls-remote", server.URL()+"/ghost.git").Run()).NotTo(Succeed())

	repo, err := server.NewRepo(ctx, "app")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Remove(ctx, "nothing", "ghost")
	g.Expect(err).To(MatchError(ContainSubstring("ghost")))
	_, err = repo.Commit(ctx, Files{"../escape": "x"}, "escape")
	g.Expect(err).To(MatchError(ContainSubstring("escape")))
}

func TestGitServesBranchesForksAndMerges(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	server, err := NewGitServer(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(server.Close()).To(Succeed()) }()
	repo, err := server.NewRepo(ctx, "app")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(ctx, Files{"Pulumi.yaml": "name: app\n"}, "first")
	g.Expect(err).NotTo(HaveOccurred())

	branch, err := repo.Branch(ctx, "feature")
	g.Expect(err).NotTo(HaveOccurred())
	ours, err := branch.Commit(ctx, Files{"ours": "1"}, "ours")
	g.Expect(err).NotTo(HaveOccurred())
	fork, err := repo.Fork(ctx, "stranger")
	g.Expect(err).NotTo(HaveOccurred())
	theirs, err := fork.Commit(ctx, Files{"theirs": "1"}, "theirs")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(repo.SetRef(ctx, "refs/pull/2/head", theirs)).To(Succeed())
	refs := func() string {
		text, err := runGit(ctx, t.TempDir(), "ls-remote", repo.URL())
		g.Expect(err).NotTo(HaveOccurred())
		return text
	}
	g.Expect(refs()).To(And(ContainSubstring(ours+"\trefs/heads/feature"), ContainSubstring(theirs+"\trefs/pull/2/head")))
	g.Expect(refs()).NotTo(ContainSubstring(theirs + "\trefs/heads/"))

	onMain, err := repo.Commit(ctx, Files{"main": "1"}, "on main")
	g.Expect(err).NotTo(HaveOccurred())
	merged, err := repo.Merge(ctx, ours, "merge the feature")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(merged).NotTo(BeElementOf(ours, onMain))
	clone := filepath.Join(t.TempDir(), "clone")
	_, err = runGit(ctx, t.TempDir(), "clone", "--quiet", repo.URL(), clone)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(runGit(ctx, clone, "rev-parse", "HEAD")).To(Equal(merged))
	for _, file := range []string{"Pulumi.yaml", "ours", "main"} {
		g.Expect(filepath.Join(clone, file)).To(BeARegularFile())
	}
	g.Expect(filepath.Join(clone, "theirs")).NotTo(BeAnExistingFile())
}

func TestAnArtifactIsWhatFluxPushArtifactMakes(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	server, err := NewOCIRegistry()
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(server.Close()).To(Succeed()) }()
	files := Files{"Pulumi.yaml": "name: app\n", "sub/file": "one"}
	digest, err := server.PushArtifact(ctx, "team/app:latest", files, map[string]string{AnnotationRevision: "main@sha1:abc"})
	g.Expect(err).NotTo(HaveOccurred())

	tag, err := name.ParseReference(server.host + "/team/app:latest")
	g.Expect(err).NotTo(HaveOccurred())
	image, err := remote.Image(tag, remote.WithContext(ctx))
	g.Expect(err).NotTo(HaveOccurred())
	manifest, err := image.Manifest()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(manifest.Config.MediaType).To(Equal(fluxConfigMediaType))
	g.Expect(manifest.Annotations).To(HaveKeyWithValue(AnnotationRevision, "main@sha1:abc"))
	g.Expect(manifest.Layers).To(HaveLen(1))
	g.Expect(manifest.Layers[0].MediaType).To(Equal(fluxContentMediaType))
	pulled, err := image.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pulled.String()).To(Equal(digest))

	layers, err := image.Layers()
	g.Expect(err).NotTo(HaveOccurred())
	content, err := layers[0].Compressed()
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = content.Close() }()
	unpacked := t.TempDir()
	g.Expect(tar.Untar(content, unpacked)).To(Succeed())
	g.Expect(ReadDir(unpacked)).To(Equal(files))
}

func TestS3GivesBackWhatWasPut(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	server, err := NewS3Server(ctx, t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(server.Close()).To(Succeed()) }()
	g.Expect(server.MakeBucket(ctx, "stacks")).To(Succeed())
	g.Expect(server.PutObjects(ctx, "stacks", Files{"app/Pulumi.yaml": "name: app\n"})).To(Succeed())

	object, err := server.client.GetObject(ctx, "stacks", "app/Pulumi.yaml", minio.GetObjectOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	var content bytes.Buffer
	_, err = content.ReadFrom(object)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(content.String()).To(Equal("name: app\n"))

	g.Expect(server.RemoveObject(ctx, "stacks", "app/Pulumi.yaml")).To(Succeed())
	_, err = server.client.StatObject(ctx, "stacks", "app/Pulumi.yaml", minio.StatObjectOptions{})
	g.Expect(minio.ToErrorResponse(err).Code).To(Equal("NoSuchKey"))
}
