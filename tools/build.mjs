/** Builds the compiled code of the published package: dist/, one JavaScript file per TypeScript file of src/. */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

rmSync(at("dist"), { recursive: true, force: true });
// Source maps hold the source, so only the declarations need its comments as well.
compile("--declaration", "false", "--removeComments");
compile("--emitDeclarationOnly");
cpSync(at("src/store/migrations"), at("dist/store/migrations"), { recursive: true });

function compile(...options) {
  const tsc = [at("node_modules/typescript/bin/tsc"), "-p", at("tsconfig.build.json")];
  execFileSync(process.execPath, [...tsc, ...options], { stdio: "inherit" });
}
