// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// killedIn has the directory of TestSaveAndRestoreUntilKilled.
const killedIn = "SNAPSHOT_TEST_KILLED_IN"

// manyFiles are the files of one installation, which all name it.
const manyFiles = 100

func TestSaveAndRestoreUntilKilled(t *testing.T) {
	dir := os.Getenv(killedIn)
	if dir == "" {
		t.Skip("started by TestAKilledProcessLeavesWholeSnapshots only")
	}
	store := openAt(t, filepath.Join(dir, "snapshots"), roomy)
	for i := 0; ; i++ {
		text := strings.Repeat(strconv.Itoa(i), 2000)
		installed := map[string]string{"big": strings.Repeat(text, 300)}
		for n := range manyFiles {
			installed[fmt.Sprintf("node_modules/p%d/f%d", n/20, n)] = text
		}
		root := workspace(t, nil)
		of := id("apps", strconv.Itoa(i%2))
		fmt.Println("saving")
		if err := save(t, store, of, root, func() { put(t, root, installed) }); err != nil {
			t.Fatal(err)
		}
		other := workspace(t, nil)
		if found, err := store.Restore(t.Context(), of, other); err != nil || !found {
			t.Fatalf("found %v: %v", found, err)
		}
		if err := errors.Join(store.TakeBack(root.Name()), store.TakeBack(other.Name())); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.RemoveAll(root.Name()), os.RemoveAll(other.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// A node that fails, or one that is out of memory, kills the controller at any moment.
func TestAKilledProcessLeavesWholeSnapshots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var whole, none int
	for i := range 8 {
		g := NewWithT(t)
		child := exec.Command(os.Args[0], "-test.run=^TestSaveAndRestoreUntilKilled$")
		child.Env = append(os.Environ(), killedIn+"="+dir, "TMPDIR="+t.TempDir())
		printed, err := child.StdoutPipe()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(child.Start()).To(Succeed())
		lines := bufio.NewReader(printed)
		for range 1 + i%2 {
			g.Expect(lines.ReadString('\n')).To(Equal("saving\n"))
		}
		time.Sleep(time.Duration(i) * 4 * time.Millisecond) // kills at another moment of saving each time
		g.Expect(child.Process.Kill()).To(Succeed())
		_, _ = io.Copy(io.Discard, lines) // it is killed
		_ = child.Wait()

		store := openAt(t, filepath.Join(dir, "snapshots"), roomy)
		g.Expect(filepath.Glob(filepath.Join(store.dir, "*", "*"+writing))).To(BeEmpty())
		g.Expect(idleCopies(store)).To(BeEmpty(), "nobody knows what happened to them")
		for _, key := range []string{"0", "1"} {
			root := workspace(t, nil)
			found, err := store.Restore(t.Context(), id("apps", key), root)
			g.Expect(err).NotTo(HaveOccurred())
			if !found {
				none++
				continue
			}
			whole++
			checkOneInstallation(g, root)
		}
	}
	t.Logf("%d snapshots were whole and %d not there", whole, none)
	NewWithT(t).Expect(whole).To(BeNumerically(">", 0))
}

// checkOneInstallation fails if a file is missing, or is of another installation than the rest.
func checkOneInstallation(g *WithT, root *os.Root) {
	big, err := root.ReadFile("big")
	g.Expect(err).NotTo(HaveOccurred())
	text := string(big[:len(big)/300])
	g.Expect(string(big)).To(Equal(strings.Repeat(text, 300)))
	for n := range manyFiles {
		g.Expect(root.ReadFile(fmt.Sprintf("node_modules/p%d/f%d", n/20, n))).To(BeEquivalentTo(text))
	}
}

func TestAFullDiskLeavesWholeSnapshots(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a file system cannot be mounted here (it takes root): %v", err)
	}
	t.Cleanup(func() { NewWithT(t).Expect(unix.Unmount(dir, 0)).To(Succeed()) })
	store := openAt(t, filepath.Join(dir, "snapshots"), roomy)
	root := workspace(t, nil)
	g.Expect(save(t, store, id("apps", "small"), root, func() { put(t, root, map[string]string{"f": "1"}) })).To(Succeed())
	err := save(t, store, id("apps", "big"), root, func() { put(t, root, map[string]string{"big": strings.Repeat("x", 2<<20)}) })
	g.Expect(err).To(MatchError(syscall.ENOSPC))
	g.Expect(err).NotTo(MatchError(fs.ErrNotExist), "the unfinished file is there to be removed")
	g.Expect(filepath.Glob(filepath.Join(store.dir, "*", "*"+writing))).To(BeEmpty(), "it takes no space any more")
	g.Expect(store.Restore(t.Context(), id("apps", "big"), workspace(t, nil))).To(BeFalse())
	g.Expect(store.Restore(t.Context(), id("apps", "small"), workspace(t, nil))).To(BeTrue())

	// A workspace on the same disk.
	g.Expect(os.Mkdir(filepath.Join(dir, "workspace"), 0o700)).To(Succeed())
	full, err := os.OpenRoot(filepath.Join(dir, "workspace"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = full.Close() }()
	root = workspace(t, nil)
	g.Expect(save(t, store, id("apps", "half"), root, func() { put(t, root, map[string]string{"half": strings.Repeat("x", 600<<10)}) })).To(Succeed())
	_, err = store.Restore(t.Context(), id("apps", "half"), full)
	g.Expect(err).To(And(MatchError(ErrPartial), MatchError(syscall.ENOSPC)), "nobody uses half of it")
}
