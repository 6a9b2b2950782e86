// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// maxInstallLines and maxInstallText bound how much of an installation's output is
	// shown, both from its first errors and from its end: npm says first why it failed,
	// pip last.
	maxInstallLines = 6
	maxInstallText  = 600
)

// outcomeOfInstall decides the outcome of a run that did not get beyond installing
// dependencies. Nothing was changed, so there is nothing to recover, whatever ended it.
func outcomeOfInstall(e ending) (run.Outcome, string) {
	switch {
	case e.cause != nil && (e.last.stopped || errors.Is(e.err, e.cause)):
		return stoppedInstall(e)
	case e.err != nil:
		var disk workspaceError
		if errors.As(e.err, &disk) {
			return run.WorkspaceFailed, installing + ": " + e.err.Error()
		}
		return run.Failed, installing + ": " + e.err.Error()
	case e.last.signal != "":
		ended, advice := e.program.Memory.EndedBy(e.last.signal)
		return run.Failed, fmt.Sprintf("%s: %s %s: %s", installing, cmp.Or(e.last.tool, "Pulumi"), ended, advice)
	}
	if e.compiling && e.disk == nil {
		// This text of the language host says that the program does not compile.
		return run.Failed, e.program.Message("unable to run `go build`: exit status 1", e.stdout+"\n"+e.stderr)
	}
	message := installing + ": " + installText(e.stdout, e.stderr, e.last)
	sign := installText(cmp.Or(e.last.stdout.Text, e.stdout), cmp.Or(e.last.stderr.Text, e.stderr), e.last)
	switch {
	case e.disk != nil:
		return run.WorkspaceFailed, fmt.Sprintf("%s: %v", message, e.disk)
	case isKilled(sign):
		_, advice := e.program.Memory.EndedBy("killed")
		return run.Failed, message + " (" + advice + ")"
	case isMissingTool(sign):
		return run.Failed, message + " (" + missingTool + ")"
	case strings.Contains(sign, "ERR_PNPM_ABORTED_REMOVE_MODULES_DIR"):
		return run.Failed, message + " (" + brokenModules + ")"
	case isDependencyAway(sign):
		return run.RegistryUnavailable, message
	}
	return run.Failed, message
}

// stoppedInstall is the outcome if the run was asked to stop. Package managers wait for a registry for many
// minutes and say nothing, and for a script for ever.
func stoppedInstall(e ending) (run.Outcome, string) {
	doing := installing
	if e.compiling {
		doing = compiling
	}
	outcome, message := stopped(ending{cause: e.cause})
	message += " while " + doing + ": nothing was changed"
	if outcome != run.TimedOut || e.compiling {
		return outcome, message
	}
	message += ". The registry may not answer, a script of a package may not end, or spec.timeout is too short"
	if printed := withoutNoise(linesOf(e.stdout + "\n" + e.stderr)); len(printed) > 0 {
		message += ". The last line that was printed: " + bounded.Text(printed[len(printed)-1], maxInstallText)
	}
	return outcome, message
}

// missingTool is the advice if a language is missing.
const missingTool = run.MissingLanguage + ": use one with the language, its package manager and its language host, " +
	"such as a variant of the controller's image (flux pulumi install --image-variant) " +
	"or, with --runner=job, any image in --runner-images or in spec.workspaceTemplate.spec.image"

// brokenModules is the advice if the source has a node_modules of pnpm.
const brokenModules = "the node_modules of pnpm consists of symbolic links, and a source has none: leave it out of the source"

// isKilled recognizes that a tool was killed, such as by the kernel for its memory, by what its parent says: a program
// in Go, npm, or a shell.
func isKilled(message string) bool {
	return regexp.MustCompile(`(?m)\bsignal: killed\b|\bSIGKILL\b|^Killed$|\bexit (code|status) 137\b`).MatchString(message)
}

// isMissingTool recognizes a missing language host or language tool.
func isMissingTool(message string) bool {
	return regexp.MustCompile("no language plugin '|Could not find `[a-z]+` executable|executable file not found in|" +
		"unable to find program: |Failed to locate any of|could not find executable '").MatchString(message)
}

// installText is why an installation failed, as the output of the language's tools and the
// CLI's own error say.
func installText(stdout, stderr string, last exit) string {
	return causeFirst(toolsAndCLI(stdout, stderr, last))
}

// causeFirst moves the first lines to the end that only say that a tool is at work or has failed,
// and how: tables show only the first line.
func causeFirst(text string) string {
	text = regexp.MustCompile(`( imports)\n\s+`).ReplaceAllString(text, "$1 ") // go mod tidy
	how := regexp.MustCompile("^(npm (error|ERR!) (code|syscall|path|dest|errno) .*|go: (downloading|finding|found) .*|`.*` failed.*: exit status \\d+.*)$")
	all := strings.Split(text, "\n")
	first := slices.IndexFunc(all, func(line string) bool { return !how.MatchString(line) })
	if first <= 0 {
		return text
	}
	return strings.Join(append(all[first:len(all):len(all)], all[:first]...), "\n")
}

// toolsAndCLI is the output of the language's tools with the CLI's own error before it.
func toolsAndCLI(stdout, stderr string, last exit) string {
	said, own := cutOwnError(linesOf(stderr))
	printed := withoutNoise(linesOf(stdout))
	said = withoutNoise(said)
	switch {
	case slices.ContainsFunc(said, isToolError):
		printed = nil
	case slices.ContainsFunc(printed, isToolError):
		said = nil
	}
	tools := bothEnds(append(printed, said...))
	if own == "" {
		own = fmt.Sprintf("%s ended with exit code %d", cmp.Or(last.tool, "Pulumi"), last.code)
	}
	switch {
	case tools == "" || strings.Contains(own, tools):
		return own
	case regexp.MustCompile(`^(exit status \d+\s*)+$`).MatchString(own):
		return tools // the tools caused that exit
	}
	return own + ":\n" + tools
}

// cutOwnError splits the CLI's own error off the end of the output.
func cutOwnError(all []string) ([]string, string) {
	for i, line := range slices.Backward(all) {
		if text, ok := strings.CutPrefix(line, "error: "); ok {
			text = strings.Join(append([]string{text}, all[i+1:]...), "\n")
			text = strings.TrimPrefix(text, "installing dependencies: ")
			text = strings.TrimPrefix(text, "rpc error: code = Unknown desc = ")
			return all[:i], bothEnds(onlyOnce(strings.Split(text, "\n")))
		}
	}
	return all, ""
}

func linesOf(text string) []string {
	if text = tidy(text); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// withoutNoise drops lines that do not help to explain a failed installation.
func withoutNoise(all []string) []string {
	noise := regexp.MustCompile(`^(Installing dependencies\.\.\.|warning: using pulumi-language-.*|(npm|pnpm|yarn) (notice|warn|WARN)\b.*|` +
		`go: (downloading|finding|found) .*|` +
		`npm (error|ERR!)( \w+)?|npm (error|ERR!)\s+at .*|npm (error|ERR!) (A complete log of this run.*|\s*/.*-debug-0\.log)|\[notice\].*|exit status \d+)$`)
	return slices.DeleteFunc(slices.Clone(all), func(line string) bool { return noise.MatchString(strings.TrimSpace(line)) })
}

// isToolError tells whether a line of a tool's output claims to be an error.
func isToolError(line string) bool {
	return regexp.MustCompile(`(?i)^\W*(npm err|err_|error\b|fatal:|go: |could not|failed to)|\berror[: ]`).MatchString(strings.TrimSpace(line))
}

// onlyOnce drops repeated lines: the CLI joins the error of an installation with those
// of its streams, which are the same.
func onlyOnce(all []string) []string {
	var kept []string
	for _, line := range all {
		if !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	return kept
}

// bothEnds keeps the first and last lines, bounded. If there are too many lines, it
// starts at the first that claims to be an error. "..." marks a gap.
func bothEnds(all []string) string {
	const sign = "..."
	first := max(0, slices.IndexFunc(all, isToolError))
	if len(all) > 2*maxInstallLines || len(strings.Join(all, "\n")) > 2*maxInstallText {
		all = all[first:]
	}
	for i, line := range all {
		all[i] = bounded.Text(line, maxInstallText)
	}
	head := linesWithin(all)
	rest := slices.Clone(all[head:])
	slices.Reverse(rest)
	rest = rest[:linesWithin(rest)]
	slices.Reverse(rest)
	kept := slices.Clone(all[:head])
	if head+len(rest) < len(all) {
		kept = append(kept, sign)
	}
	return strings.Join(append(kept, rest...), "\n")
}

// linesWithin is how many of the first lines fit.
func linesWithin(all []string) int {
	size := 0
	for i, line := range all {
		if size += len(line) + 1; i == maxInstallLines || (size > maxInstallText && i > 0) {
			return i
		}
	}
	return len(all)
}

// isDependencyAway recognizes a dependency that could not be downloaded because of the
// network, by the wording of the tools: the codes of Node.js and npm, and the texts of
// Python's libraries and of Rust's for uv. isAway covers Go's. A registry's answer that
// it does not have the dependency is not among them.
func isDependencyAway(message string) bool {
	return isAway(message) || regexp.MustCompile(`\b(ENOTFOUND|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ECONNABORTED|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|`+
		`ENETDOWN|EPIPE|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|E429|E5\d\d|UND_ERR_\w*TIMEOUT)\b|`+
		`npm (error|ERR!) network |Retry\(total=0|Max retries exceeded|Failed to establish a new connection|Connection to \S+ (failed|timed out)|`+
		`[Cc]onnection (aborted|broken)|Read timed out|ConnectTimeout|NameResolutionError|Temporary failure in name resolution|`+
		`All attempts to connect to|dns error|tcp connect error|error sending request for url|operation timed out|`+
		`Could not resolve host|Connection timed out|`+
		`\b(429 Too Many Requests|50[234] (Bad Gateway|Service (Temporarily )?Unavailable|Gateway Time-?out))`).MatchString(message)
}
