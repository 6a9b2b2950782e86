// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatReachesOutsideIsNamed(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"an absolute path":                 {`outputs: {a: {"fn::readFile": /etc/passwd}}`, "program.outputs.a.fn::readFile (line 3): reads a file outside the workspace"},
		"a path to the directory above":    {`outputs: {a: {"fn::filebase64": ../x}}`, "reads a file outside"},
		"a path above in the middle":       {`outputs: {a: {"fn::filebase64sha256": a/../../x}}`, "reads a file outside"},
		"a path above that comes back":     {`outputs: {a: {"fn::fileAsset": a/../b}}`, "reads a file outside"},
		"an archive":                       {`outputs: {a: {"fn::fileArchive": /}}`, "reads a file outside"},
		"an empty path":                    {`outputs: {a: {"fn::fileArchive": ""}}`, "reads a file outside"},
		"upper case":                       {`outputs: {a: {"FN::ReadFILE": /etc/passwd}}`, "reads a file outside"},
		"a reference":                      {`outputs: {a: {"fn::readFile": "${words}"}}`, "whose path is not known"},
		"a reference after a text":         {`outputs: {a: {"fn::readFile": "a${words}"}}`, "whose path is not known"},
		"a call":                           {`outputs: {a: {"fn::readFile": {"fn::join": ["/", [etc, passwd]]}}}`, "whose path is not known"},
		"a secret":                         {`outputs: {a: {"fn::readFile": {"fn::secret": /etc/passwd}}}`, "whose path is not known"},
		"an escaped dollar":                {`outputs: {a: {"fn::readFile": "$$/../x"}}`, "reads a file outside"},
		"in an archive of assets":          {`outputs: {a: {"fn::assetArchive": {x: {"fn::fileAsset": /etc/passwd}}}}`, "program.outputs.a.fn::assetArchive.x.fn::fileAsset"},
		"in the arguments of a call":       {`variables: {a: {"fn::invoke": {function: a:b:c, arguments: {x: [{"fn::readFile": /x}]}}}}`, "reads a file"},
		"in the arguments of a short call": {`variables: {a: {"fn::a:b:c": {x: {"fn::readFile": /x}}}}`, "reads a file"},
		"in the options of a call":         {`variables: {a: {"fn::invoke": {function: a:b:c, options: {parent: {"fn::readFile": /x}}}}}`, "reads a file"},
		"in the default of a config value": {`config: {a: {type: String, default: {"fn::readFile": /x}}}`, "program.config.a.default.fn::readFile"},
		"in the value of a config value":   {`configuration: {a: {type: String, value: {"fn::readFile": /x}}}`, "program.configuration.a.value.fn::readFile"},
		"in the state of a get":            {`resources: {r: {type: a:B, get: {id: x, state: {p: {"fn::readFile": /x}}}}}`, "program.resources.r.get.state.p.fn::readFile"},
		"in the ID of a get":               {`resources: {r: {type: a:B, get: {id: {"fn::readFile": /x}}}}`, "reads a file"},
		"in a property":                    {`resources: {r: {type: a:B, properties: {p: [{q: {"fn::readFile": /x}}]}}}`, "program.resources.r.properties.p[0].q.fn::readFile"},
		"in an option":                     {`resources: {r: {type: a:B, options: {protect: {"fn::readFile": /x}}}}`, "reads a file"},
		"in the version of Pulumi":         {`pulumi: {requiredVersion: {"fn::readFile": /x}}`, "reads a file"},
		"a URL of a file":                  {`outputs: {a: {"fn::remoteAsset": file:///etc/passwd}}`, "program.outputs.a.fn::remoteAsset (line 3): is not, for certain, an https"},
		"a URL that is not known":          {`outputs: {a: {"fn::remoteArchive": "${url}"}}`, "is not, for certain, an https"},
		"a type of a package by its path":  {`resources: {r: {type: "/tmp/x:index:Y"}}`, "program.resources.r.type (line 3): names its package by a path"},
		"a provider by its path":           {`resources: {r: {type: "pulumi:providers:../x"}}`, "names its package by a path"},
		"a function by a path":             {`variables: {a: {"fn::/tmp/x:index:y": {}}}`, "program.variables.a.fn::/tmp/x:index:y (line 3): names its package by a path"},
		"a function called by a path":      {`variables: {a: {"fn::invoke": {function: "./x:index:y"}}}`, "program.variables.a.fn::invoke.function (line 4): names its package by a path"},
		"a plugin that is a file":          {`resources: {r: {type: a:B, options: {pluginDownloadURL: "file:///x"}}}`, "program.resources.r.options.pluginDownloadURL (line 4): is not a URL"},
		"a plugin that is a path":          {`resources: {r: {type: a:B, options: {pluginDownloadURL: ./x}}}`, "is not a URL"},
		"the plugin of a call":             {`variables: {a: {"fn::invoke": {function: a:b:c, options: {pluginDownloadURL: /x}}}}`, "is not a URL"},
		"a package that is a path":         {`packages: {a: ./x}`, "program.packages.a (line 2): is a path"},
		"a package at an absolute path":    {`packages: {a: /x}`, "is a path"},
		"a package that is a file":         {`packages: {a: "file:///x"}`, "is a path"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(lines(checked(t, test.text).SandboxViolations)).To(ContainElement(ContainSubstring(test.want)))
		})
	}
}

func TestWhatStaysInsideIsNotNamed(t *testing.T) {
	for name, text := range map[string]string{
		"a file of the workspace":            `outputs: {a: {"fn::readFile": ./Main.yaml}}`,
		"a name with dots":                   `outputs: {a: {"fn::readFile": ..a..}}`,
		"a URL with a reference in its path": `outputs: {a: {"fn::remoteAsset": "https://example.com/${name}"}}`,
		"an asset that is a text":            `outputs: {a: {"fn::stringAsset": /etc/passwd}}`,
		"a plugin of GitHub":                 `resources: {r: {type: a:B, options: {pluginDownloadURL: github://api.github.com/acme}}}`,
		"a version":                          `packages: {a: 1.2.3}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := checked(t, text)
			g.Expect(lines(c.SandboxViolations)).To(BeEmpty())
			g.Expect(lines(c.Invalid)).To(BeEmpty())
		})
	}
}
