// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// The messages of the usual mistakes in each language are in the golden files of
// internal/pulumi, which reads the events of Pulumi.

const killed = "an unhandled error occurred: Program exited with non-zero exit code: -1"

func TestMessage(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("index.ts(%d,1): error TS2304: Cannot find name 'x'.", i+1)
	}
	for name, test := range map[string]struct {
		program           Program
		reported, printed string
		want              string
	}{
		"a language without rules": {Program{Runtime: "hcl"}, "bad\n  on main.hcl", "noise", "bad\n  on main.hcl"},
		"killed for its memory": {
			Program{Runtime: "go", Memory: Memory{Limit: 512 << 20, Killed: true}}, killed, "",
			"out of memory: the program was killed (OOMKilled): raise the memory limit of the container that runs Pulumi, which is 512Mi",
		},
		"killed, without a known limit": {
			Program{Runtime: "python"}, killed, "",
			"the program was ended by a signal, most likely because it was out of memory: raise the memory limit of the container that runs Pulumi",
		},
		"ended by a signal that the language explains": {
			Program{Runtime: "go"}, killed, "fatal error: concurrent map writes", "fatal error: concurrent map writes",
		},
		"Go without memory": {
			Program{Runtime: "go"}, "program exited with non-zero exit code: 2", "fatal error: runtime: out of memory",
			"out of memory: the program cannot get more: raise the memory limit of the container that runs Pulumi",
		},
		"a panic of another goroutine while one is recovered": {
			Program{Runtime: "go"}, "program exited with non-zero exit code: 2",
			"panic: one [recovered]\n\tpanic: two\n\ngoroutine 1 [running]:\nmain.main()\n\texample.com/infra/main.go:7 +0x1d\nexample.com/infra/lib.F()\n",
			"main.go:7: panic: one\n\tpanic: two",
		},
		"a program in a directory of its module": {
			Program{Runtime: "go"}, "program exited with non-zero exit code: 2",
			"panic: x\ngoroutine 1 [running]:\nexample.com/mono/lib.F()\n\texample.com/mono/lib/f.go:3 +0x1\nmain.main()\n\texample.com/mono/infra/main.go:7 +0x1d",
			"../lib/f.go:3: panic: x\n    called from main.go:7",
		},
		"many errors": {
			Program{Runtime: "nodejs"}, "TSError: ⨯ Unable to compile TypeScript:\n" + strings.Join(many, "\n"), "",
			"index.ts:1:1: error TS2304: Cannot find name 'x'.\nindex.ts:2:1: error TS2304: Cannot find name 'x'.\n" +
				"index.ts:3:1: error TS2304: Cannot find name 'x'.\nindex.ts:4:1: error TS2304: Cannot find name 'x'.\n" +
				"index.ts:5:1: error TS2304: Cannot find name 'x'.\nindex.ts:6:1: error TS2304: Cannot find name 'x'.\n" +
				"index.ts:7:1: error TS2304: Cannot find name 'x'.\nindex.ts:8:1: error TS2304: Cannot find name 'x'.\n" +
				"and 32 more lines in the log",
		},
		"a cause that was assigned": {
			Program{Runtime: "nodejs"},
			"Running program 'index.ts' failed with an unhandled exception:\nAxiosError: Request failed\n    at Axios.request (node_modules/axios/lib/core/Axios.js:45:41)\n" +
				"    at main (index.ts:3:61) {\n  code: 'ECONNREFUSED',\n  cause: Error: connect ECONNREFUSED 10.0.0.1:443\n      at main (index.ts:2:12)\n}", "",
			"index.ts:3:61: AxiosError: Request failed\ncaused by: Error: connect ECONNREFUSED 10.0.0.1:443",
		},
		"an empty text": {
			Program{Runtime: "nodejs"}, "Running program 'index.ts' failed with an unhandled exception:", "",
			"the program failed with an empty text instead of an Error: throw an Error",
		},
		"an error without a text": {
			Program{Runtime: "nodejs"}, "Running program 'index.ts' failed with an unhandled exception:\n \n    at main (index.ts:1:9)", "",
			"Running program 'index.ts' failed with an unhandled exception:\n \n    at main (index.ts:1:9)",
		},
		"an object that is not an error": {
			Program{Runtime: "nodejs"}, "Running program 'index.ts' failed with an unhandled exception:\n[object Object]", "",
			"the program failed with an object that is not an Error, which Pulumi shows as [object Object]: throw an Error",
		},
		"a promise that is rejected with nothing": {
			Program{Runtime: "nodejs"},
			"Running program 'index.ts' failed with an unhandled exception:\nTypeError: Cannot read properties of undefined (reading 'name')\n" +
				"    at process.uncaughtHandler (node_modules/@pulumi/cmd/run/run.ts:421:24)\n    at process.emit (node:events:536:35)", "",
			"the program failed with undefined instead of an Error: throw an Error, or reject the promise with one",
		},
		"its own mistake with nothing": {
			Program{Runtime: "nodejs"},
			"Running program 'index.ts' failed with an unhandled exception:\nTypeError: Cannot read properties of undefined (reading 'name')\n    at main (index.ts:1:9)", "",
			"index.ts:1:9: TypeError: Cannot read properties of undefined (reading 'name')",
		},
		"an exit without a word": {
			Program{Runtime: "python"}, "program exited with non-zero exit code: 3", "", "the program exited with code 3, and Pulumi reports nothing that it printed",
		},
		"a secret of the config": {
			Program{}, "Missing required configuration variable 'a:b'\n\tplease set a value using the command `pulumi config set --secret a:b <value>`", "",
			"Missing required configuration variable 'a:b': set it in spec.secretsRef",
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.program.Message(test.reported, test.printed)).To(Equal(test.want))
		})
	}
}

func TestPathsAreRelative(t *testing.T) {
	p := Program{Places: []PathAlias{
		{"/data/runs/1/workspace/infra", Here}, {"/data/runs/1/workspace", ".."}, {"/data/runs/1/home", "~"}, {"/data/runs/1/tmp", Temp},
	}}
	for text, want := range map[string]string{
		"at /data/runs/1/workspace/infra/index.ts:1:2": "at index.ts:1:2",
		"in '/data/runs/1/workspace/infra'":            "in '.'",
		"file:///data/runs/1/workspace/infra/a.mjs":    "a.mjs",
		"/data/runs/1/workspace/lib/a.ts":              "../lib/a.ts",
		"/data/runs/1/home/.npm/x":                     "~/.npm/x",
		"open /data/runs/1/tmp/go-build17/b001: no":    "open $TMPDIR/...: no",
		"/data/runs/2/workspace":                       "/data/runs/2/workspace",
	} {
		NewWithT(t).Expect(p.Relative(text)).To(Equal(want))
	}
}

func TestWhatDiffersAtEachAttemptIsDropped(t *testing.T) {
	for text, want := range map[string]string{
		"2026/01/02 03:04:05 bad\n2026-01-02T03:04:05.123Z worse":   "bad\nworse",
		"I0131 17:48:57.226668     216 log.go:81] bad":              "log.go:81] bad",
		"panic: main.T{p:0xc000012345}":                             "panic: main.T{p:0x...}",
		"read tcp 10.0.0.1:51234->10.0.0.2:443: i/o timeout":        "read tcp 10.0.0.1->10.0.0.2:443: i/o timeout",
		"dial tcp 127.0.0.1:43211: refused":                         "dial tcp 127.0.0.1: refused",
		"dial tcp 127.0.0.1:5432: refused, after 10.00412s, of 30s": "dial tcp 127.0.0.1:5432: refused, after 10s, of 30s",
		"version 1.2345, of 2026-01-02 at 0x1f":                     "version 1.2345, of 2026-01-02 at 0x1f",
	} {
		NewWithT(t).Expect(steady(text)).To(Equal(want))
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("nodejs", "Running program 'x' failed with an unhandled exception:\n<ref *1> Error: a\n    at f (a.ts:1:2) {\n  [cause]: Error: b", "")
	f.Add("nodejs", "Running program 'x' failed with an unhandled exception:", "")
	f.Add("go", "error in compiling Go: unable to run `go build`: exit status 1", "# a\n./a.go:1:2: b")
	f.Add("go", killed, "panic: a\n\ngoroutine 1 [running]:\nmain.main()\n\ta/b.go:1 +0x1")
	f.Add("python", "Traceback (most recent call last):\n  File \"a.py\", line 1\n    x\nE: a", "")
	f.Add("yaml", "Error: a\n\n  on b line 1:\n  1: c", "")
	f.Add("java", "Running program [PID: 1] failed with an unhandled exception:\na\n\tat b.C.d(C.java:1)\nCaused by: e", "")
	f.Add("dotnet", "Running program 'x' failed with an unhandled exception:\na\n ---> b\n   at c in d:line 1", "")
	f.Fuzz(func(t *testing.T, runtime, reported, printed string) {
		message := Program{Runtime: runtime}.Message(reported, printed)
		if strings.TrimSpace(message) == "" && strings.TrimSpace(strings.TrimPrefix(reported, "an unhandled error occurred: ")) != "" {
			t.Errorf("no message for %q", reported)
		}
		if len(message) > 2*(len(reported)+len(printed))+1000 {
			t.Errorf("a message of %d bytes", len(message))
		}
	})
}
