// build.mjs PACKAGES OUTPUT: bundles src/ with the packages of PACKAGES/node_modules. Writes to the directory OUTPUT:
//   page.html          the page without its data: all that a report is but for @TITLE@ and @DATA@
//   page.licenses.txt  the licences of everything in it that others wrote
//   page.sources       SHA-256 of what it was made from and of the two files above, for `sha256sum -c` in web/
// The same sources and packages give the same bytes, wherever they lie and whatever the version of Node.js: tools/web.sh
// runs this, and compares.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const home = dirname(fileURLToPath(import.meta.url));
const source = join(home, "src");
const packages = resolve(process.argv[2]);
const output = resolve(process.argv[3]);
const modules = join(packages, "node_modules");
const esbuild = createRequire(join(packages, "package.json"))("esbuild");
const byName = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// ---- script and style ----

const used = new Set(["esbuild"]); // its helpers are in what it writes
const bundle = (file, more) => {
  const made = esbuild.buildSync({
    absWorkingDir: packages,
    bundle: true,
    charset: "utf8",
    entryPoints: [join(source, file)],
    legalComments: "none",
    metafile: true,
    minify: true,
    nodePaths: [modules],
    outdir: output,
    target: "es2021",
    tsconfigRaw: {}, // none that lies in a directory above
    write: false,
    ...more,
  });
  for (const { inputs } of Object.values(made.metafile.outputs))
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const name = /.*(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
      if (name && bytesInOutput > 0) used.add(name[1]);
    }
  return made.outputFiles[0].text.trim();
};
const script = bundle("main.js", { format: "iife" });
const style = bundle("page.css", {});

// ---- licences ----

const licensesOf = (name) => {
  const place = join(modules, name);
  const about = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  const more = existsSync(join(place, "licenses")) ? readdirSync(join(place, "licenses")) : [];
  const files = [
    ...readdirSync(place).filter((file) => /^(licen[cs]e|notice|copyright(notice)?)(\.txt|\.md)?$/i.test(file)).sort(byName),
    ...more.sort(byName).map((file) => join("licenses", file)),
  ];
  if (!files.some((file) => /^licen[cs]e/i.test(file))) throw new Error(`${name} has no file with its licence`);
  const texts = files.map((file) => readFileSync(join(place, file), "utf8").replaceAll("\r", "").replace(/[ \t]+$/gm, "").trim());
  return [`${name} ${about.version} (${about.license})`, ...texts].join("\n\n");
};
const line = "\n\n" + "=".repeat(80) + "\n\n";
const licenses = [...used].sort(byName).map(licensesOf).join(line);

// ---- the page ----

const fill = (page, mark, text) => {
  const [before, after, ...more] = page.split(mark);
  if (after === undefined || more.length > 0) throw new Error(`${mark} must be in the page once`);
  return before + text + after;
};
let page = readFileSync(join(source, "page.html"), "utf8");
// Whoever passes a report on passes these on: a comment, in which two dashes must not follow each other.
page = fill(page, "@NOTICE@", licenses.replace(/--+/g, (dashes) => [...dashes].join(" ")));
page = fill(page, "/*@STYLE@*/", style);
page = fill(page, "/*@SCRIPT@*/", script);
fill(fill(page, "@TITLE@", ""), "@DATA@", "");
const made = {
  "dist/page.html": page,
  "dist/page.licenses.txt": "The page of reports (page.html) contains code of these packages:" + line + licenses + "\n",
};

// ---- what it was made from ----

const own = readdirSync(source).filter((file) => /\.(js|css|html)$/.test(file));
const sources = ["build.mjs", "package.json", "package-lock.json", ...own.map((file) => `src/${file}`)];
const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");
const sums = [
  ...sources.sort(byName).map((name) => [name, readFileSync(join(home, name))]),
  ...Object.entries(made),
].map(([name, bytes]) => `${digest(bytes)}  ${name}\n`);
for (const [name, text] of Object.entries(made)) writeFileSync(join(output, name.slice("dist/".length)), text);
writeFileSync(join(output, "page.sources"), sums.join(""));
