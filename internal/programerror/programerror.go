// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package programerror turns what Pulumi says about a program that failed, and what the
// program and the tools of its language printed, into one message: the position in the
// program first, then the cause. It takes and returns texts, which are masked before.
package programerror

import "strings"

// Program is the program that failed.
type Program struct {
	// Runtime is its language, as in Pulumi.yaml.
	Runtime string
	// Places are the directories of the run, those within others first.
	Places []PathAlias
	// Memory is what its processes may use.
	Memory Memory
}

// language has the rules for programs in one language. Each finds the cause in the lines
// of a text.
type language struct {
	// reported reads an error that Pulumi reports, printed what the program and the tools
	// of the language have printed.
	reported, printed func(lines []string) (cause, bool)
}

// languageOf returns the rules for a runtime. A language without rules has none.
func languageOf(runtime string) language {
	switch runtime {
	case "nodejs", "bun":
		return language{reported: javaScriptError, printed: javaScriptError}
	case "go":
		return language{reported: goError, printed: goPrinted}
	case "python":
		return language{reported: pythonError, printed: pythonError}
	case "dotnet":
		return language{reported: dotnetError, printed: dotnetPrinted}
	case "java":
		return language{reported: javaError, printed: javaPrinted}
	case "yaml":
		return language{reported: yamlError, printed: yamlError}
	}
	return language{}
}

// Message returns the message for an error that Pulumi reports. If the error only says
// that the program ended, the cause is in what was printed.
func (p Program) Message(reported, printed string) string {
	rules := languageOf(p.Runtime)
	reported = strings.TrimPrefix(p.Relative(reported), "an unhandled error occurred: ")
	printed = p.Relative(printed)
	end, ok := endOf(reported)
	if !ok {
		if found, ok := find(rules.reported, reported); ok {
			return p.withMemory(found.message())
		}
		return withAdvice(reported)
	}
	if text, ok := p.outOfMemory(end, printed); ok {
		return text
	}
	if found, ok := find(rules.printed, printed); ok {
		return found.message()
	}
	return end.message(printed)
}

func find(rule func([]string) (cause, bool), text string) (cause, bool) {
	if rule == nil || text == "" {
		return cause{}, false
	}
	found, ok := rule(strings.Split(text, "\n"))
	return found, ok && strings.TrimSpace(strings.Join(found.text, "")) != ""
}
