import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PACKAGE_ROOT } from "../../input/project.ts";
import { temporaryModels, tinyModel } from "./model/tiny-model.fixture.ts";
import { INSTALL_COMMAND, loadOnnxruntime } from "./onnxruntime.ts";

const writeModel = temporaryModels();

it("the command installs the version that is tested", () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8"),
  ) as Record<string, Record<string, string>>;
  const version = { ...dependencies, ...devDependencies }["onnxruntime-node"];
  expect(INSTALL_COMMAND.split("@").at(-1)).toBe(version);
});

it("a library that cannot be loaded is an InputError with its reason", async () => {
  const load = () => Promise.reject(new Error("libonnxruntime.so is damaged"));
  await expect(loadOnnxruntime(load)).rejects.toMatchObject({
    name: "InputError",
    problem: "cannot be loaded: Error: libonnxruntime.so is damaged",
  });
});

it("without onnxruntime-node, opening a transformer names the command to run", () => {
  const module = new URL("./inference/transformer-encoder.ts", import.meta.url).href;
  const script = `
    const { openTransformer } = await import(${JSON.stringify(module)});
    const error = await openTransformer(${JSON.stringify(writeModel(tinyModel("bert")))}).catch((e) => e);
    console.log(error.name, error.message, error.hint);
  `;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--import", WITHOUT_ONNXRUNTIME, "-e", script],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^InputError onnxruntime-node: is not installed/);
  expect(stdout).toContain(INSTALL_COMMAND);
});

/** A module that hides onnxruntime-node from the process and its threads. */
const WITHOUT_ONNXRUNTIME = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== "onnxruntime-node") return next(specifier, context);
      throw Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" });
    },
  });
`)}`;
