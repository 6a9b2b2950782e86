// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// The site of the documentation: the pages of the repository as they are, with a search that works without a server. Links to
// what is no page lead to the repository, and a link to a page that does not exist fails the build.
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const site = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const root = path.resolve(site, "../..");
const repository = "https://github.com/flux-pulumi/pulumi-controller";
const pages = /^(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$|^(docs|examples)\/.*\.md$/;

// target returns where a link of a page leads to on the site.
function target(page, href) {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [file, heading] = href.split("#");
  const absolute = path.resolve(root, path.dirname(page), file);
  const inside = path.relative(root, absolute);
  if (pages.test(inside)) return href;
  if (!existsSync(absolute)) throw new Error(`${page}: ${href} does not exist`);
  const kind = statSync(absolute).isDirectory() ? "tree" : "blob";
  return `${repository}/${kind}/main/${inside}${heading ? `#${heading}` : ""}`;
}

// sourceLinks rewrites the links of a page before VitePress looks at them.
function sourceLinks(md) {
  md.core.ruler.push("source-links", (state) => {
    for (const token of state.tokens.flatMap((token) => token.children ?? [])) {
      const href = token.type === "link_open" && token.attrGet("href");
      if (href) token.attrSet("href", target(state.env.relativePath ?? "README.md", href));
    }
  });
}

// literalCode keeps the {{ }} of an indented block as they are, as VitePress does with those of a fenced one.
function literalCode(md) {
  const render = md.renderer.rules.code_block;
  md.renderer.rules.code_block = (...args) => render(...args).replace("<pre", "<pre v-pre");
}

const guides = (...names) => names.map(([text, link]) => ({ text, link: `/docs/guides/${link}` }));

export default defineConfig({
  title: "pulumi-controller",
  description: "The Flux controller for Pulumi",
  srcDir: path.join(site, "sources"),
  outDir: path.join(site, "pages"),
  cacheDir: path.join(site, "cache"),
  rewrites: { "README.md": "index.md", "docs/README.md": "docs/index.md", "examples/README.md": "examples/index.md",
    "examples/:name/README.md": "examples/:name/index.md", "docs/spec/v1/README.md": "docs/spec/v1/index.md" },
  markdown: { config: (md) => { sourceLinks(md); literalCode(md); } },
  themeConfig: {
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: repository }],
    nav: [
      { text: "Documentation", link: "/docs/" },
      { text: "Examples", link: "/examples/" },
      { text: "API", link: "/docs/api/v1/pulumi" },
    ],
    outline: [2, 3],
    sidebar: [
      { text: "Start", items: [
        { text: "Start on kind", link: "/docs/guides/kind" },
        { text: "Install with flux bootstrap", link: "/docs/guides/flux-bootstrap" },
        { text: "Bootstrap Flux with Pulumi", link: "/docs/guides/bootstrap-with-pulumi" },
        { text: "Installation", link: "/docs/installation" },
        { text: "Migration", link: "/docs/migration" },
        { text: "Before a migration", link: "/docs/migration/before" },
        { text: "The migration, step by step", link: "/docs/migration/steps" },
        { text: "What it means for a Stack", link: "/docs/migration/takeover" },
        { text: "The operator's fields", link: "/docs/migration/fields" },
        { text: "The migration back", link: "/docs/migration/back" },
        { text: "Upgrading", link: "/docs/upgrading" },
        { text: "Questions", link: "/docs/faq" },
        { text: "Comparison", link: "/docs/comparison" },
      ] },
      { text: "Programs", items: guides(["TypeScript and JavaScript", "typescript"], ["Python", "python"], ["Go", "go"],
        ["Existing programs", "existing-programs"], ["Sources", "sources"], ["Secrets", "secrets"], ["Layers", "layers"]) },
      { text: "Changes", items: guides(["Approvals", "approvals"], ["Pull requests", "pull-requests"], ["Policies", "policies"],
        ["Drift", "drift"]) },
      { text: "Clouds", items: guides(["Cloud identity", "cloud-identity"], ["AWS", "aws"], ["Azure", "azure"],
        ["Google Cloud", "google-cloud"]) },
      { text: "Operations", items: [
        ...guides(["The page", "page"], ["Alerts", "alerts"], ["Monitoring", "monitoring"], ["Multi-tenancy", "multi-tenancy"],
          ["Troubleshooting", "troubleshooting"]),
        { text: "Where programs run", link: "/docs/runners" }, ...guides(["Stacks whose runs are Jobs", "jobs"]),
        { text: "The image", link: "/docs/image" },
        { text: "Reliability", link: "/docs/reliability" },
        { text: "Benchmarks", link: "/docs/benchmarks" },
      ] },
      { text: "Reference", items: [
        { text: "Stacks", link: "/docs/spec/v1/stacks" },
        { text: "Programs", link: "/docs/spec/v1/programs" },
        { text: "PolicySets", link: "/docs/spec/v1/policysets" },
        { text: "API reference", link: "/docs/api/v1/pulumi" },
        { text: "flux pulumi", link: "/docs/cli" },
        { text: "Flags", link: "/docs/flags" },
        { text: "Architecture", link: "/docs/architecture" },
      ] },
    ],
  },
});
