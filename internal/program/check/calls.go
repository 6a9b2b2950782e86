// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"
)

// calls collects the faults of function calls, and what they reach.
type calls struct {
	invalid, violations *findings
}

// Pulumi YAML function names are case-insensitive, so these are in lower case.
func readsFile() []string {
	return []string{"fn::readfile", "fn::filebase64", "fn::filebase64sha256", "fn::fileasset", "fn::filearchive"}
}

func readsURL() []string { return []string{"fn::remoteasset", "fn::remotearchive"} }

func computes() []string {
	return []string{"fn::assetarchive", "fn::frombase64", "fn::invoke", "fn::join", "fn::length", "fn::pulumiresourcename", "fn::pulumiresourcetype",
		"fn::secret", "fn::select", "fn::sha1", "fn::singleornone", "fn::split", "fn::stackreference", "fn::stringasset", "fn::tobase64", "fn::tojson",
		"fn::unsecret"}
}

// shortCall matches a function called by its name, as in fn::aws:ec2:getAmi.
var shortCall = regexp.MustCompile(`^fn::[^:]+:[^:]+(:[^:]+)?$`)

// isCall reports whether an object is a function call.
func isCall(at *position) bool {
	return at.isObject() && len(at.node.Content) == 2 && strings.HasPrefix(strings.ToLower(at.node.Content[0].Value), "fn::")
}

// isCallOptions reports whether an object is the options of a call.
func isCallOptions(at *position) bool {
	return strings.EqualFold(at.key, "options") && at.parent != nil && strings.EqualFold(at.parent.key, "fn::invoke")
}

// checkCalls checks all calls wherever they are, even where Pulumi would not evaluate
// them, so that nothing can slip past.
func checkCalls(at *position, c *calls) {
	name := strings.ToLower(at.key)
	switch {
	case slices.Contains(readsFile(), name):
		c.checkFile(at)
	case slices.Contains(readsURL(), name):
		c.checkURL(at)
	case name == "fn::invoke":
		call().check(at, c.invalid)
		token, _ := at.get("function").text()
		checkToken(at.get("function"), token, c.violations)
		callOptions().check(at.get("options"), c.invalid)
		checkResources(at.get("options"), c.invalid)
	case strings.HasPrefix(at.key, "fn::") && isCall(at.parent) && !slices.Contains(computes(), name) && !shortCall.MatchString(name):
		// Other capitalization may well be CloudFormation's, such as Fn::Sub.
		c.invalid.add(at, "is no function of Pulumi YAML")
	}
	if at.parent != nil && isCall(at.parent) && shortCall.MatchString(name) {
		checkToken(at, strings.TrimPrefix(name, "fn::"), c.violations)
	}
	if isPluginURL(at) {
		c.checkPluginURL(at)
	}
	if at.key == "version" && at.parent != nil && isCallOptions(at.parent) {
		checkVersion(at, c.invalid)
	}
	at.each(func(inner *position) { checkCalls(inner, c) })
}

// literal returns a text whose value is known before the run, evaluated as Pulumi would.
func literal(at *position) (string, bool) {
	text, ok := at.text()
	if !ok {
		return "", false
	}
	expression, diags := ast.ParseExpr(syntax.String(text))
	value, ok := expression.(*ast.StringExpr)
	if !ok || diags.HasErrors() {
		return "", false
	}
	return value.Value, true
}

// checkFile refuses the path of a file unless it is certain to be in the workspace of the
// program. The workspace has no symbolic links.
func (c *calls) checkFile(at *position) {
	path, known := literal(at)
	switch {
	case !known:
		c.violations.add(at, "reads a file whose path is not known before it is run")
	case filepath.IsAbs(path), slices.Contains(strings.Split(path, "/"), ".."), !filepath.IsLocal(path), strings.ContainsRune(path, 0):
		c.violations.add(at, "reads a file outside the workspace of the program")
	}
}

// checkURL refuses a URL unless it is certain not to be a file. Its beginning decides.
func (c *calls) checkURL(at *position) {
	text, _ := at.text()
	text = strings.ToLower(text)
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		c.violations.add(at, "is not, for certain, an https or http URL, and may be a file of the controller")
	}
}

// isPluginURL reports whether Pulumi downloads a plugin from this value.
func isPluginURL(at *position) bool {
	if !strings.EqualFold(at.key, "pluginDownloadURL") || at.parent == nil {
		return false
	}
	return isCallOptions(at.parent) || strings.EqualFold(at.parent.key, "options")
}

// checkPluginURL refuses a URL that may be a local file.
func (c *calls) checkPluginURL(at *position) {
	text, ok := at.text()
	if !ok {
		return // the parser reports the type
	}
	if location, err := url.Parse(text); text != "" && (err != nil || !slices.Contains(pluginSchemes(), location.Scheme)) {
		c.violations.add(at, "is not a URL to download a plugin from: that begins with https, http, github, gitlab or git")
	}
}

func pluginSchemes() []string { return []string{"git", "github", "gitlab", "http", "https"} }
