// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

var (
	soakStacks = flag.Int("soak-stacks", 10, "how many Stacks there are")
	soakTime   = flag.Duration("soak-time", 30*time.Second, "how long their programs are edited")
)

// slack allows for connections that happen to be open. There are far more runs, so a leak
// in each would show.
const slack = 5

// usage is what a controller uses.
type usage struct {
	goroutines, files, children int
	bytes                       int64
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d open files, %d child processes, %d bytes of run files", u.goroutines, u.files, u.children, u.bytes)
}

// measure returns the current usage of the controller.
func measure(g Gomega, s *system.System) usage {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Controller.PID()))
	g.Expect(err).NotTo(HaveOccurred())
	found := usage{goroutines: goroutines(g, s), files: len(files), children: children(g, s.Controller.PID())}
	for _, dir := range []string{s.Path("data", "runs"), s.Path("tmp")} {
		found.bytes += size(g, dir)
	}
	return found
}

func goroutines(g Gomega, s *system.System) int {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	answer, err := client.Get(s.MetricsURL())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = answer.Body.Close() }()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			count, err := strconv.Atoi(text)
			g.Expect(err).NotTo(HaveOccurred())
			return count
		}
	}
	g.Expect("the metrics").To(ContainSubstring("go_goroutines"))
	return 0
}

func children(g Gomega, pid int) int {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	g.Expect(err).NotTo(HaveOccurred())
	count := 0
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err == nil { // a thread that has ended has none
			count += len(strings.Fields(string(text)))
		}
	}
	return count
}

func size(g Gomega, dir string) int64 {
	var total int64
	g.Expect(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})).To(Succeed())
	return total
}

// TestSoak edits the programs of many Stacks for a while. By night:
//
//	go test ./tests/crash -run TestSoak -soak-stacks 50 -soak-time 5m -timeout 30m
func TestSoak(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	s := start(t)
	var all []*subject
	for n := range *soakStacks {
		u := newSubject(t, s, fmt.Sprintf("soak-%d", n))
		u.create(ctx, quick(2, "0"), nil)
		all = append(all, u)
	}
	g := all[0]
	awaitAll(ctx, all)
	var before usage
	g.Eventually(func(now Gomega) {
		before = measure(now, s)
		now.Expect(before.children).To(BeZero())
	}).Should(Succeed())
	t.Logf("before: %s", before)

	edits, changes := soak(ctx, all)
	awaitAll(ctx, all)
	var after usage
	g.Eventually(func(now Gomega) {
		after = measure(now, s)
		now.Expect(after.children).To(BeZero())
		now.Expect(after.bytes).To(BeNumerically("<=", before.bytes))
		now.Expect(after.goroutines).To(BeNumerically("<=", before.goroutines+slack))
		now.Expect(after.files).To(BeNumerically("<=", before.files+slack))
	}).Should(Succeed(), func() string { return fmt.Sprintf("before: %s\nafter: %s", before, after) })
	t.Logf("after %d edits and %d changes of things in %s: %s", edits, changes, *soakTime, after)
	for _, u := range all {
		u.checkExact()
	}
}

func awaitAll(ctx context.Context, all []*subject) {
	for _, u := range all {
		u.awaitCurrent(ctx)
	}
}

// soak edits one program after the other, and counts what the cloud saw of it.
func soak(ctx context.Context, all []*subject) (edits, changes int) {
	for end := time.Now().Add(*soakTime); time.Now().Before(end); edits++ {
		all[edits%len(all)].edit(ctx, quick(2, strconv.Itoa(edits+1)))
	}
	awaitAll(ctx, all)
	for _, u := range all {
		for _, one := range u.wanted {
			changes += u.count("update", "done", one.name)
		}
	}
	return edits, changes
}
