// build.mjs DIRECTORY: bundles src/ into one HTML page without its data, and writes it as
// DIRECTORY/page.html (to look at) and DIRECTORY/template.c (for the library). The packages are in
// DIRECTORY/node_modules.
import { createRequire } from "node:module";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const source = join(dirname(fileURLToPath(import.meta.url)), "src");
const directory = resolve(process.argv[2] ?? ".");
const require = createRequire(join(directory, "package.json"));
const esbuild = require("esbuild");

const shared = {
  absWorkingDir: directory,
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
  legalComments: "none",
  nodePaths: [join(directory, "node_modules")],
  target: "es2021",
};
const script = esbuild.buildSync({ ...shared, entryPoints: [join(source, "main.js")], format: "iife" });
const style = esbuild.buildSync({ ...shared, entryPoints: [join(source, "page.css")] });

// What their licences ask to be kept with every copy: a comment of the page.
const notice = ["echarts", "zrender", "tslib"].map((name) => {
  const home = join(directory, "node_modules", name);
  const about = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const files = readdirSync(home).filter((file) => /^(licen[cs]e|notice)(\.txt|\.md)?$/i.test(file)).sort();
  const texts = files.map((file) => readFileSync(join(home, file), "utf8").replaceAll("\r", "").trim());
  return [`${name} ${about.version} (${about.license})`, ...texts].join("\n\n");
}).join("\n\n").replace(/--+/g, (dashes) => [...dashes].join(" "));

const fill = (page, mark, text) => {
  const [before, after, ...more] = page.split(mark);
  if (after === undefined || more.length > 0) throw new Error(`${mark} must be in the page once`);
  return before + text + after;
};
let page = readFileSync(join(source, "page.html"), "utf8");
page = fill(page, "@NOTICE@", notice);
page = fill(page, "/*@STYLE@*/", style.outputFiles[0].text.trim());
page = fill(page, "/*@SCRIPT@*/", script.outputFiles[0].text.trim());
const parts = page.split(/@TITLE@|@DATA@/);
if (parts.length !== 3) throw new Error("@TITLE@ and @DATA@ must each be in the page once");

const array = (name, text) => {
  const bytes = Buffer.from(text, "utf8");
  const lines = [];
  for (let i = 0; i < bytes.length; i += 24) lines.push([...bytes.subarray(i, i + 24)].join(","));
  return `static const unsigned char ${name}[] = {\n${lines.join(",\n")}};\n`;
};
const [head, middle, tail] = parts;
writeFileSync(join(directory, "page.html"), page);
writeFileSync(
  join(directory, "template.c"),
  `/* Made by web/build.mjs. */\n#include "report/template.h"\n\n` +
    array("head", head) + array("middle", middle) + array("tail", tail) +
    "\nconst sv__page_template sv__template = {\n" +
    "    (const char *)head, (const char *)middle, (const char *)tail,\n" +
    "    sizeof head, sizeof middle, sizeof tail,\n};\n",
);
