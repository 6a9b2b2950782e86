// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// labDirectory stands for the directory of a lab in what is kept of one.
const labDirectory = "/directory/of/a/lab"

// madeStacks has the stacks that tests begin with. The real CLI makes each of them once,
// and every test has a copy: making one takes two processes.
var madeStacks struct {
	mu    sync.Mutex
	byRun map[string]*madeStack
}

// madeStack is what a run leaves in the backend and in the cloud.
type madeStack struct {
	once   sync.Once
	files  map[string]string
	result run.Result
}

// withStack begins with a stack that has no resources.
func (l *lab) withStack() *lab {
	l.Helper()
	l.given("resources: {}\n")
	return l
}

// given begins with the stack that an update of the program makes.
func (l *lab) given(program string) run.Result {
	l.Helper()
	return l.givenRun(l.update(program), nil)
}

// givenRun begins with the stack that the run of a program with the files makes. The lab
// does not know of the run itself: it has neither its directory nor its calls.
func (l *lab) givenRun(r run.Run, files map[string]string) run.Result {
	l.Helper()
	own := filepath.Dir(l.calls)
	same := r
	same.ID = ""
	text, err := json.Marshal([]any{same, files})
	l.Expect(err).NotTo(HaveOccurred())
	key := strings.ReplaceAll(string(text), own, labDirectory)

	madeStacks.mu.Lock()
	if madeStacks.byRun == nil {
		madeStacks.byRun = map[string]*madeStack{}
	}
	if madeStacks.byRun[key] == nil {
		madeStacks.byRun[key] = &madeStack{}
	}
	stack := madeStacks.byRun[key]
	madeStacks.mu.Unlock()

	stack.once.Do(func() { l.makeStack(stack, r, files) })
	l.Expect(stack.files).NotTo(BeEmpty(), "the test that was to make the stack first has failed")
	for name, text := range stack.files {
		writeTree(l.T, own, map[string]string{name: strings.ReplaceAll(text, labDirectory, own)})
	}
	result := stack.result
	result.Backend = strings.ReplaceAll(result.Backend, labDirectory, own)
	return result
}

// makeStack does the run in the lab, and takes what it leaves.
func (l *lab) makeStack(stack *madeStack, r run.Run, files map[string]string) {
	l.Helper()
	if base := l.update("resources: {}\n"); r.Backend == base.Backend && string(r.Program.YAML) != string(base.Program.YAML) {
		l.withStack()
		r.Exists = true
	}
	dir := Directory(l.TempDir())
	if files != nil {
		writeTree(l.T, dir.Workspace(), files)
	}
	driver := Driver{Bin: l.driver.Bin, Path: l.driver.Path, Cache: l.driver.Cache, NoPluginDownload: true, Grace: l.driver.Grace}
	result := driver.Do(l.Context(), dir, r, func(string) {})
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.newCalls()

	own, left := filepath.Dir(l.calls), map[string]string{}
	for _, part := range []string{l.backend, l.cloud} {
		l.Expect(filepath.WalkDir(part, func(path string, entry fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(own, path)
			left[name] = strings.ReplaceAll(string(text), own, labDirectory)
			return err
		})).To(Succeed())
	}
	result.Backend = strings.ReplaceAll(result.Backend, own, labDirectory)
	stack.files, stack.result = left, result
}
