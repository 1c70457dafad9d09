/**
 * The last step of `npm ci`: builds the page with the Node of the checkout. An old Node may run
 * this file.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const link = at("node_modules/.bin/node");

// npm links the Node of this platform. npm 10 then removes the link together with the packages of
// the other platforms, which have a link of the same name.
if (process.platform !== "win32" && !existsSync(link)) {
  const { optionalDependencies } = JSON.parse(
    readFileSync(at("tools/runtime/package.json"), "utf8"),
  );
  const name = Object.keys(optionalDependencies).find((one) =>
    existsSync(at(`node_modules/${one}/bin/node`)),
  );
  rmSync(link, { force: true });
  if (name) symlinkSync(`../${name}/bin/node`, link);
}
execFileSync(existsSync(link) ? link : process.execPath, [at("web/build.mjs")], {
  stdio: "inherit",
});
