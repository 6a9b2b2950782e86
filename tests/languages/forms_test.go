// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// Each program exports the value of its only thing.
func TestFormsOfProgramsInNodeJS(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	for name, form := range map[string]struct {
		program string
		files   sources.Files
		want    string
	}{
		"plain JavaScript without a package.json": {program: "javascript", want: "plain"},
		"an ES module in TypeScript": {program: "typescript", want: "of a module", files: sources.Files{
			"package.json": `{"name": "app", "type": "module", "main": "index.ts"}`,
			"index.ts": `import { Thing } from "./thing.js";
const later = await Promise.resolve("of a module");
export const value = new Thing("a", { name: "a", value: later }).value;
`,
		}},
		"an ES module in JavaScript": {program: "javascript", want: "of a module", files: sources.Files{
			"package.json": `{"name": "app", "type": "module", "main": "main.js"}`,
			"thing.js":     "",
			"thing.cjs":    files(t, "javascript")["thing.js"],
			"main.js": `import thing from "./thing.cjs";
export const value = new thing.Thing("a", { name: "a", value: await Promise.resolve("of a module") }).value;
`,
		}},
		"compiled": {program: "javascript", want: "compiled", files: sources.Files{
			"Pulumi.yaml": "name: app\nmain: dist/index.js\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n",
			"index.js":    `throw new Error("this is not the program");`,
			"dist/index.js": `const { Thing } = require("../thing");
exports.value = new Thing("a", { name: "a", value: "compiled" }).value;
`,
		}},
		"a function that is not done at once": {program: "javascript", want: "later", files: sources.Files{
			"index.js": `const { Thing } = require("./thing");
module.exports = async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return { value: new Thing("a", { name: "a", value: "later" }).value };
};
`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, files(t, form.program, form.files))
			stack := p.stack()
			p.awaitReady(stack)
			p.Expect(p.things()).To(Equal(map[string]string{"a": form.want}))
			p.Expect(output(stack, "value")).To(MatchJSON(`"` + form.want + `"`))
		})
	}
}
