// Bundle the page into one file of the Python package: scripts and styles inline, data to come.
// `node build.mjs` writes it; `node build.mjs --check` fails if it is not what the sources make.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const target = new URL("../src/ptunfold/explorer/page.html", here);

async function bundle(entry) {
  const result = await build({
    entryPoints: [new URL(entry, here).pathname],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox113", "safari16.4"],
    legalComments: "inline",
    charset: "utf8",
  });
  return result.outputFiles[0].text.trim();
}

const [page, script, style] = await Promise.all([
  readFile(new URL("src/page.html", here), "utf8"),
  bundle("src/main.js"),
  bundle("src/style.css"),
]);
if (script.includes("</script")) throw new Error("the script would end too early");
// The page's policy: this script and this style, and no other.
const hash = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;
// Functions, so that no dollar sign in the code is taken for a reference.
const made = page
  .replace("/* script hash */", hash(script))
  .replace("/* style hash */", hash(style))
  .replace("/* style */", () => style)
  .replace("/* script */", () => script);

if (process.argv.includes("--check")) {
  const found = await readFile(target, "utf8").catch(() => "");
  if (found !== made) {
    console.error("src/ptunfold/explorer/page.html is not what explorer/src makes; make explorer");
    process.exit(1);
  }
  console.log("the explorer is up to date");
} else {
  await writeFile(target, made);
  console.log(`${(made.length / 1e6).toFixed(2)} MB: src/ptunfold/explorer/page.html`);
}
