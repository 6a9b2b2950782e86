// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs Pulumi for a compiled program beside it. With Pulumi's automation API, Node.js serves the program to Pulumi, which needs
// no language host then.
//
// usage: node run.js preview|up|destroy PROGRAM STACK, with the configuration as JSON in the variable CONFIG
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const path = require("path");

async function main([command, file, stackName]) {
  const workspace = await LocalWorkspace.create({ workDir: __dirname });
  const { name: projectName } = await workspace.projectSettings();
  const program = async () => require(path.resolve(__dirname, file));
  const stack = await LocalWorkspace.createOrSelectStack({ projectName, stackName, program }, { workDir: __dirname });
  await stack.setAllConfig(JSON.parse(process.env.CONFIG ?? "{}"));
  const { summary, changeSummary } = await stack[command]({ onOutput: (text) => process.stderr.write(text) });
  console.log(JSON.stringify(changeSummary ?? summary.resourceChanges ?? {}));
}

main(process.argv.slice(2)).catch((failure) => {
  console.error(failure.message);
  process.exitCode = 1;
});
