// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// kept expects that the resources a Stack made before a fault still exist, and that its state is readable.
func (t *tenant) kept(project, value string) {
	t.test.Helper()
	t.Expect(t.things()).To(Equal(map[string]string{"a": value}))
	t.Expect(t.resourcesInState(project, "dev")).To(Equal([]string{"a"}))
}

func TestASourceThatIsMissingIsWaitedFor(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitMissing(stack, "source 'GitRepository/"+u.namespace+"/app' not found")
	u.Expect(u.pulumiCalls()).To(BeEmpty())

	u.git(project("lab", oneThing("one")))
	u.awaitReady(stack)
	u.showsThe("one", stack)
}

func TestASourceThatIsNotReadyIsWaitedFor(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.gitRepo()
	good := source.object.Spec.URL
	source.object.Spec.URL += "-wrong"
	u.apply(source.object)
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitMissing(stack, "source 'GitRepository/"+u.namespace+"/app' has no artifact yet")

	revision := source.commit(project("lab", oneThing("one")))
	edit(u, source.object, func(r *sourcev1.GitRepository) { r.Spec.URL = good })
	u.awaitReady(stack, atRevision(revision))
	u.showsThe("one", stack)
}

// badArtifact is a broken artifact.
type badArtifact struct {
	publish func(*tenant) publication
	reason  string
	texts   []string
}

func badArtifacts() map[string]badArtifact {
	const failed = "ArtifactFailed"
	good := func(u *tenant) []byte { return u.archive(entriesOf(project("lab", oneThing("two")))...) }
	return map[string]badArtifact{
		"gone": {func(u *tenant) publication { return publication{archive: good(u), missing: true} },
			failed, []string{"it is gone (404)"}},
		"exchanged for another": {func(u *tenant) publication {
			return publication{archive: good(u), handler: content(u.archive(entriesOf(project("lab", oneThing("evil")))...))}
		}, failed, []string{"does not match the digest sha256:"}},
		"cut short by its server": {func(u *tenant) publication { return publication{archive: good(u), handler: cutShort(good(u))} },
			failed, []string{"artifact http://"}},
		"half an archive": {func(u *tenant) publication { return publication{archive: good(u)[:100]} },
			failed, []string{"it could not be unpacked", "unexpected EOF"}},
		"no archive at all": {func(*tenant) publication { return publication{archive: []byte("<html>not found</html>")} },
			failed, []string{"it is not a gzip-compressed tar archive"}},
		"bigger than the bound": {func(u *tenant) publication {
			return publication{archive: good(u), handler: endless(129 << 20)}
		}, failed, []string{"it exceeds the limit of"}},
		"bigger than the bound when unpacked": {func(u *tenant) publication { return publication{archive: u.bomb()} },
			failed, []string{"it exceeds the limit of", "when unpacked"}},
		"with a name that leads out": {func(u *tenant) publication {
			return publication{archive: u.archive(append(entriesOf(project("lab", oneThing("two"))), file("../../../escaped", "x"))...)}
		}, failed, []string{"it could not be unpacked", `invalid name error "../../../escaped"`}},
		"with an absolute link for its project file": {func(u *tenant) publication {
			return publication{archive: u.archive(symlink("Pulumi.yaml", "/etc/passwd"))}
		}, v1.UpdateFailedReason, []string{"no Pulumi.yaml"}},
		"with an absolute link for its directory": {func(u *tenant) publication {
			return publication{archive: u.archive(symlink("deep", "/etc"), file("deep/Pulumi.yaml", "name: lab\nruntime: yaml\n"))}
		}, v1.UpdateFailedReason, []string{"no Pulumi.yaml"}},
		"without a Pulumi.yaml": {func(u *tenant) publication { return publication{archive: u.archive(file("README.md", "hello"))} },
			v1.UpdateFailedReason, []string{"no Pulumi.yaml in the directory"}},
	}
}

// awaitAttempt waits until the Stack has tried a revision.
func (t *tenant) awaitAttempt(stack *v1.Stack, revision string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.LastAttemptedRevision).To(Equal(revision))
	}).Should(Succeed())
}

func TestABadArtifactIsReportedAndHarmsNothing(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.publishFiles("good", project("lab", oneThing("one")))
	stack := u.stack(fromArtifact)
	u.apply(stack)
	u.awaitReady(stack, atRevision("good"))
	for name, bad := range badArtifacts() {
		t.Log(name)
		p := bad.publish(u)
		p.revision = name
		u.publish(p)
		u.awaitAttempt(stack, name)
		u.awaitFailure(stack, bad.reason, bad.texts...)
		u.Expect(stack.Status.LastAppliedRevision).To(Equal("good"))
		u.kept("lab", "one")
		u.Expect(filesNamed(u.dir, "escaped")).To(BeEmpty())
	}
	u.publishFiles("mended", project("lab", oneThing("three")))
	u.awaitReady(stack, atRevision("mended"))
	u.kept("lab", "three")
}

func TestAnArtifactThatComesBackIsFetchedWhenAsked(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	archive := u.archive(entriesOf(project("lab", oneThing("one")))...)
	u.publish(publication{revision: "v1", archive: archive, missing: true})
	stack := u.stack(fromArtifact)
	u.apply(stack)
	u.awaitEvent(stack, corev1.EventTypeNormal, v1.ArtifactGoneReason, "the current artifact runs next", "it is gone (404)")
	u.awaitFailure(stack, "ArtifactFailed", "it is gone (404)") // the source still offers it

	u.artifacts.set(u.artifactPath("v1"), content(archive))
	request(u, stack)
	u.awaitReady(stack, atRevision("v1"))
	u.kept("lab", "one")
}

// cutShort announces all of the data and closes the connection half-way.
func cutShort(data []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data[:len(data)/2]) // the client may be gone
	})
}

// endless sends the given number of zeros.
func endless(size int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(zeros{}, size)) // the client may stop reading
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// bomb is a small archive of a file of 600 MiB. Each MiB is a gzip member, which readers join into one stream, so
// only one needs compressing.
func (t *tenant) bomb() []byte {
	t.test.Helper()
	const mebibytes = 600
	var header bytes.Buffer
	archive := tar.NewWriter(&header)
	t.Expect(archive.WriteHeader(&tar.Header{Name: "zeros", Typeflag: tar.TypeReg, Mode: 0o644, Size: mebibytes << 20})).To(Succeed())
	bomb := t.zipped(header.Bytes())
	mebibyte := t.zipped(make([]byte, 1<<20))
	for range mebibytes {
		bomb = append(bomb, mebibyte...)
	}
	return append(bomb, t.zipped(make([]byte, 1024))...) // the end of a tar archive
}

func (t *tenant) zipped(data []byte) []byte {
	t.test.Helper()
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	_, err := writer.Write(data)
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(writer.Close()).To(Succeed())
	return buffer.Bytes()
}

func TestADirThatCannotBeUsedIsReported(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.publishFiles("v1", in("app", project("lab", oneThing("one"))))
	stack := u.stack(from("ExternalArtifact", "app"))
	u.apply(stack)
	u.awaitReady(stack)
	for name, test := range map[string]struct {
		dir   string
		texts []string
	}{
		"missing":             {"nowhere", []string{`dir "nowhere" is not in the artifact`, `has "app/"`}},
		"a file":              {"app/Pulumi.yaml", []string{`dir "app/Pulumi.yaml" is a file`}},
		"absolute":            {"/etc", []string{`dir "/etc" is not in the artifact`}},
		"without Pulumi.yaml": {"", []string{"no Pulumi.yaml", "dir must name the directory that holds it"}},
	} {
		t.Log(name)
		edit(u, stack, func(s *v1.Stack) { s.Spec.FluxSource.Dir = test.dir })
		reason := "ArtifactFailed"
		if test.dir == "" {
			reason = v1.UpdateFailedReason
		}
		u.awaitFailure(stack, reason, test.texts...)
		u.kept("lab", "one")
	}
	edit(u, stack, func(s *v1.Stack) { s.Spec.FluxSource.Dir = "app" })
	u.awaitReady(stack)
}

func TestADirThatLeadsOutStalls(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.publishFiles("v1", in("app", project("lab", oneThing("one"))))
	stack := u.stack(from("ExternalArtifact", "app/../../../.."))
	u.apply(stack)
	u.awaitStalled(stack, v1.InvalidSpecReason, "spec.fluxSource.dir: leads out of the source")
	edit(u, stack, func(s *v1.Stack) { s.Spec.FluxSource.Dir = "app" })
	u.awaitReady(stack)
}
