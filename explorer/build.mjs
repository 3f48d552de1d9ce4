// Bundle the page into one file of the Python package: scripts and styles inline, data to come.
// `node build.mjs` writes it; `node build.mjs --check` fails if it is not what the sources make.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const target = new URL("../src/ptunfold/explorer/page.html", here);

const licences = new URL("../src/ptunfold/explorer/LICENSES.txt", here);
const read = (name) => readFile(new URL(name, here), "utf8");
const lock = JSON.parse(await read("package-lock.json")).packages;

async function bundle(entry) {
  const result = await build({
    entryPoints: [new URL(entry, here).pathname],
    absWorkingDir: here.pathname,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    target: ["chrome100", "firefox113", "safari16.4"],
    legalComments: "inline",
    charset: "utf8",
  });
  const inputs = Object.keys(result.metafile.inputs).filter((file) => file.startsWith("node_modules/"));
  const packages = inputs.map((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)[0]);
  return [result.outputFiles[0].text.trim(), packages];
}

// The licence of a package that is bundled; tools for building alone have no place in the page.
async function licence(folder) {
  const { version, license, dev } = lock[folder];
  const name = folder.split("node_modules/").at(-1);
  if (dev) throw new Error(`${name} is bundled: it belongs into the dependencies of package.json`);
  return `${name} ${version} (${license})\n\n${(await read(`${folder}/LICENSE`)).trim()}\n`;
}

const [page, [code, packages], [style, morePackages]] = await Promise.all([
  read("src/page.html"),
  bundle("src/main.js"),
  bundle("src/style.css"),
]);
const bundled = [...new Set([...packages, ...morePackages])].sort();
const notices = `The explorer's page contains:\n\n${(await Promise.all(bundled.map(licence))).join("\n\n")}`;
if (notices.includes("*/")) throw new Error("the licences would end too early");
// Every page is a copy of what is bundled, so the licences go with it.
const script = `/*!\n${notices}*/\n${code}`;
if (script.includes("</script")) throw new Error("the script would end too early");
// The page's policy: this script and this style, and no other.
const hash = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;
// Functions, so that no dollar sign in the code is taken for a reference.
const made = page
  .replace("/* script hash */", hash(script))
  .replace("/* style hash */", hash(style))
  .replace("/* style */", () => style)
  .replace("/* script */", () => script);

const outputs = [[target, made], [licences, notices]];
if (process.argv.includes("--check")) {
  for (const [file, text] of outputs) {
    if ((await readFile(file, "utf8").catch(() => "")) === text) continue;
    console.error(`${file.pathname.split("/").at(-1)} is not what explorer/src makes; make explorer`);
    process.exit(1);
  }
  console.log("the explorer is up to date");
} else {
  for (const [file, text] of outputs) await writeFile(file, text);
  console.log(`${(made.length / 1e6).toFixed(2)} MB: src/ptunfold/explorer/page.html`);
}
