// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package keeper

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

const roomy = 1 << 30

func id(key string) snapshot.ID {
	return snapshot.ID{Namespace: "apps", Key: sha256.Sum256([]byte(key))}
}

// volume is a directory in which keepers keep snapshots.
type volume struct {
	*WithT
	t     *testing.T
	dir   string
	limit int64
	// snapshots is how many a pod may keep.
	snapshots int
}

func newVolume(t *testing.T) volume {
	return volume{WithT: NewWithT(t), t: t, dir: t.TempDir(), limit: roomy, snapshots: 1}
}

// pod is a client with a keeper of its own, which ends with the returned error.
func (v volume) pod() (client *Client, ended <-chan error) {
	v.t.Helper()
	client, _, ended = v.podAt()
	return client, ended
}

func (v volume) podAt() (client *Client, socket string, ended <-chan error) {
	v.t.Helper()
	socket = filepath.Join(v.t.TempDir(), "s")
	done := make(chan error, 1)
	go func() { done <- Serve(v.t.Context(), socket, snapshot.NewShared(v.dir, v.limit), "apps", v.snapshots) }()
	client, err := Dial(v.t.Context(), socket, v.dir, v.snapshots)
	v.Expect(err).NotTo(HaveOccurred())
	v.t.Cleanup(func() { v.Expect(client.Close()).To(Succeed()) })
	return client, socket, done
}

// workspace is a directory with files.
func (v volume) workspace(files map[string]string) *os.Root {
	v.t.Helper()
	root, err := os.OpenRoot(v.t.TempDir())
	v.Expect(err).NotTo(HaveOccurred())
	v.t.Cleanup(func() { _ = root.Close() })
	for name, text := range files {
		v.Expect(root.WriteFile(name, []byte(text), 0o644)).To(Succeed())
	}
	return root
}

// kept are the names of the files on the volume.
func (v volume) kept() (names []string) {
	v.t.Helper()
	v.Expect(filepath.WalkDir(v.dir, func(path string, found fs.DirEntry, err error) error {
		if err == nil && !found.IsDir() && found.Name() != "lock" {
			names = append(names, found.Name())
		}
		return err
	})).To(Succeed())
	return names
}

func TestAKeeperKeepsWhatAClientSends(t *testing.T) {
	v := newVolume(t)
	first, ended := v.pod()
	unlock, err := first.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	v.Expect(first.Restore(t.Context(), id("a"), v.workspace(nil))).To(BeFalse())
	big := strings.Repeat("x", 5<<20)
	v.Expect(first.Save(t.Context(), id("a"), v.workspace(map[string]string{"module": "text", "big": big}), []string{"big", "module"})).To(Succeed())
	unlock()
	v.Eventually(ended).Should(Receive(BeNil()), "the keeper ends with the connection")
	v.Expect(first.Save(t.Context(), id("a"), v.workspace(nil), nil)).NotTo(Succeed())

	second, ended := v.pod()
	unlock, err = second.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	root := v.workspace(nil)
	v.Expect(second.Restore(t.Context(), id("a"), root)).To(BeTrue())
	v.Expect(root.ReadFile("module")).To(BeEquivalentTo("text"))
	v.Expect(root.ReadFile("big")).To(BeEquivalentTo(big))
	unlock()
	v.Eventually(ended).Should(Receive(BeNil()))
}

// A run has the dependencies of its policy packs, and then those of its program.
func TestAPodKeepsSeveralSnapshots(t *testing.T) {
	v := newVolume(t)
	v.snapshots = 3
	pod, ended := v.pod()
	for _, key := range []string{"pack", "program"} {
		unlock, err := pod.Lock(t.Context(), id(key), nil)
		v.Expect(err).NotTo(HaveOccurred())
		v.Expect(pod.Restore(t.Context(), id(key), v.workspace(nil))).To(BeFalse())
		v.Expect(pod.Save(t.Context(), id(key), v.workspace(map[string]string{"module": key}), []string{"module"})).To(Succeed())
		unlock()
	}
	v.Expect(pod.Close()).To(Succeed(), "another pack has no dependencies")
	v.Eventually(ended).Should(Receive(BeNil()))

	second, _ := v.pod()
	for _, key := range []string{"pack", "program"} {
		root := v.workspace(nil)
		v.Expect(second.Restore(t.Context(), id(key), root)).To(BeTrue())
		v.Expect(root.ReadFile("module")).To(BeEquivalentTo(key))
	}
}

// A program that finds the socket, or even the connection, must not change what other runs get.
func TestAKeeperServesTheFirstClientAlone(t *testing.T) {
	v := newVolume(t)
	client, socket, _ := v.podAt()
	_, err := client.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	_, err = net.Dial("unix", socket)
	v.Expect(err).To(HaveOccurred())

	v.Expect(client.Save(t.Context(), id("of another program"), v.workspace(map[string]string{"module": "evil"}), []string{"module"})).To(Succeed())
	v.Expect(client.Restore(t.Context(), id("of another program"), v.workspace(nil))).To(BeFalse())
	v.Expect(client.Restore(t.Context(), id("a"), v.workspace(nil))).To(BeTrue(), "the key is the one that it named first")
}

func TestPodsThatStartTogetherInstallOnce(t *testing.T) {
	v := newVolume(t)
	first, _ := v.pod()
	unlock, err := first.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	other, _ := v.pod()
	_, err = other.Lock(t.Context(), id("b"), nil)
	v.Expect(err).NotTo(HaveOccurred(), "another program does not wait")

	locked, waiting := make(chan error, 1), make(chan struct{})
	second, _ := v.pod()
	go func() {
		_, err := second.Lock(t.Context(), id("a"), func() { close(waiting) })
		locked <- err
	}()
	v.Eventually(waiting).Should(BeClosed(), "the run says that it waits")
	v.Consistently(locked, lockSeen).ShouldNot(Receive())
	v.Expect(first.Save(t.Context(), id("a"), v.workspace(map[string]string{"module": "text"}), []string{"module"})).To(Succeed())
	v.Eventually(locked).Should(Receive(BeNil()), "it need not wait for the program of the first")
	v.Expect(second.Restore(t.Context(), id("a"), v.workspace(nil))).To(BeTrue())
	unlock()
}

// lockSeen is longer than a keeper needs to see that another has ended.
const lockSeen = 200 * time.Millisecond

func TestThePodThatWaitsInstallsIfTheFirstEnds(t *testing.T) {
	v := newVolume(t)
	first, _ := v.pod()
	_, err := first.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	second, _ := v.pod()
	locked := make(chan error, 1)
	go func() {
		_, err := second.Lock(t.Context(), id("a"), nil)
		locked <- err
	}()
	v.Consistently(locked, lockSeen).ShouldNot(Receive())
	v.Expect(first.Close()).To(Succeed(), "as if its pod had died")
	v.Eventually(locked).Should(Receive(BeNil()))
	v.Expect(second.Restore(t.Context(), id("a"), v.workspace(nil))).To(BeFalse())
}

// A script of a package may hang.
func TestAPodWaitsForAnotherForAThirdOfItsTime(t *testing.T) {
	v := newVolume(t)
	first, _ := v.pod()
	_, err := first.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	second, _ := v.pod()
	ctx, cancel := context.WithTimeout(t.Context(), 6*lockSeen)
	defer cancel()
	_, err = second.Lock(ctx, id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	v.Expect(second.Save(t.Context(), id("a"), v.workspace(map[string]string{"module": "text"}), []string{"module"})).To(Succeed())
}

func TestARunThatEndsWhileItWaitsEndsItsKeeper(t *testing.T) {
	v := newVolume(t)
	first, _ := v.pod()
	_, err := first.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	second, ended := v.pod()
	cancelled := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = second.Lock(ctx, id("a"), func() { cancel(cancelled) })
	v.Expect(err).To(MatchError(cancelled))
	v.Eventually(ended).Should(Receive())
}

func TestASnapshotThatCannotBeUsedIsReplaced(t *testing.T) {
	v := newVolume(t)
	first, _ := v.pod()
	unlock, err := first.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	v.Expect(first.Save(t.Context(), id("a"), v.workspace(map[string]string{"module": "text"}), []string{"module"})).To(Succeed())
	unlock()
	path := filepath.Join(v.dir, "apps", v.kept()[0])
	v.Expect(os.Truncate(path, 700)).To(Succeed())

	second, _ := v.pod()
	_, err = second.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	_, err = second.Restore(t.Context(), id("a"), v.workspace(nil))
	v.Expect(err).To(MatchError(snapshot.ErrCorrupt))
	v.Expect(err.Error()).NotTo(ContainSubstring("\n"))
	v.Expect(v.kept()).To(BeEmpty())
	v.Expect(second.Save(t.Context(), id("a"), v.workspace(map[string]string{"module": "new"}), []string{"module"})).To(Succeed())
	root := v.workspace(nil)
	v.Expect(second.Restore(t.Context(), id("a"), root)).To(BeTrue())
	v.Expect(root.ReadFile("module")).To(BeEquivalentTo("new"))
}

func TestWhatIsTooBigOrCutOffIsNotKept(t *testing.T) {
	v := newVolume(t)
	v.limit = 3 << 20
	client, _ := v.pod()
	unlock, err := client.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	big := v.workspace(map[string]string{"big": strings.Repeat("x", 4<<20)})
	v.Expect(client.Save(t.Context(), id("a"), big, []string{"big"})).To(MatchError(ContainSubstring("all snapshots together may have 3145728")))
	v.Expect(v.kept()).To(BeEmpty())
	unlock()

	// One that says that it is smaller.
	client, ended := v.pod()
	v.Expect(client.call(t.Context(), keyOf(id("a")), nil)).To(Succeed())
	_, err = client.conn.Write(sizeOf(1))
	v.Expect(err).NotTo(HaveOccurred())
	_ = snapshot.Write(client.conn, big, []string{"big"})
	v.Expect(client.readAnswer(client.conn.CloseWrite(), nil)).To(MatchError(ContainSubstring("more than 3145728 bytes")))
	v.Eventually(ended).Should(Receive())
	v.Expect(v.kept()).To(BeEmpty())

	// One whose sender dies.
	client, ended = v.pod()
	v.Expect(client.call(t.Context(), keyOf(id("a")), nil)).To(Succeed())
	_, err = client.conn.Write(append(sizeOf(1000), "the start of a tar"...))
	v.Expect(err).NotTo(HaveOccurred())
	v.Expect(client.Close()).To(Succeed())
	v.Eventually(ended).Should(Receive(MatchError(snapshot.ErrCorrupt)))
	v.Expect(v.kept()).To(BeEmpty())
}

func TestAKeeperThatDiesKeepsNothing(t *testing.T) {
	v := newVolume(t)
	socket := filepath.Join(t.TempDir(), "s")
	ctx, kill := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, socket, snapshot.NewShared(v.dir, roomy), "apps", 1) }()
	client, err := Dial(t.Context(), socket, v.dir, 1)
	v.Expect(err).NotTo(HaveOccurred())
	unlock, err := client.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	kill()
	v.Eventually(ended).Should(Receive())
	v.Expect(client.Save(t.Context(), id("a"), v.workspace(map[string]string{"module": "text"}), []string{"module"})).
		To(MatchError(ContainSubstring("asking the container that keeps dependencies")))
	v.Expect(v.kept()).To(BeEmpty())
	unlock()
}

func keyOf(id snapshot.ID) []byte { return append(id.Key[:], sizeOf(1)...) }

func TestAKeeperWithoutAClientEndsWithItsPod(t *testing.T) {
	v := newVolume(t)
	ctx, cancel := context.WithTimeout(t.Context(), lockSeen)
	defer cancel()
	v.Expect(Serve(ctx, filepath.Join(t.TempDir(), "s"), snapshot.NewShared(v.dir, roomy), "apps", 1)).To(MatchError(context.DeadlineExceeded))
	_, err := Dial(ctx, filepath.Join(t.TempDir(), "s"), v.dir, 1)
	v.Expect(err).To(MatchError(context.DeadlineExceeded))
}

func TestAVolumeThatCannotBeWrittenIsNoReasonToFail(t *testing.T) {
	v := newVolume(t)
	v.dir = filepath.Join(v.dir, "file")
	v.Expect(os.WriteFile(v.dir, nil, 0o600)).To(Succeed())
	client, _ := v.pod()
	_, err := client.Lock(t.Context(), id("a"), nil)
	v.Expect(err).To(MatchError(ContainSubstring("not a directory")))
}

// A keeper waits in the kernel while its volume does not answer.
func TestAKeeperThatDoesNotAnswerHoldsUpNoRun(t *testing.T) {
	t.Parallel()
	v := newVolume(t)
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	v.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { v.Expect(listener.Close()).To(Succeed()) })
	connect := func() (*Client, net.Conn) {
		client, err := Dial(t.Context(), socket, v.dir, 1)
		v.Expect(err).NotTo(HaveOccurred())
		conn, err := listener.Accept()
		v.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { v.Expect(errors.Join(client.Close(), conn.Close())).To(Succeed()) })
		return client, conn
	}
	client, _ := connect()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	_, err = client.Lock(ctx, id("a"), nil)
	v.Expect(err).To(MatchError("the volume of the snapshots does not answer"))
	v.Expect(ctx.Err()).NotTo(HaveOccurred(), "there is time to install")

	client, conn := connect()
	go func() { _, _ = conn.Write([]byte{0}) }()
	_, err = client.Lock(t.Context(), id("a"), nil)
	v.Expect(err).NotTo(HaveOccurred())
	cancelled := errors.New("the run was cancelled")
	running, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { stop(cancelled) })
	big := v.workspace(map[string]string{"big": strings.Repeat("x", 4<<20)})
	v.Expect(client.Save(running, id("a"), big, []string{"big"})).To(MatchError(cancelled))
}
