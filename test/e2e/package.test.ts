import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  temporaryModels,
  tinyModel,
} from "../../src/core/encoder/transformer/model/tiny-model.fixture.ts";
import { INSTALL_COMMAND } from "../../src/core/encoder/transformer/onnxruntime.ts";
import { Installed } from "./installed.fixture.ts";
import { ROOT } from "./joust.fixture.ts";
import { chat } from "./serve.fixture.ts";

const installed = new Installed();
beforeAll(() => installed.create());
afterAll(() => installed.remove());

const QUERIES = "node_modules/joust/data/queries.jsonl";
const SCORES = ["--scores", "node_modules/joust/data/scores/routerbench.csv", "--exclude", "gpt-4"];

describe("the package", () => {
  it("holds code, declarations, page, encoder, migrations, data, documentation and results, and no tests", () => {
    const files = readdirSync(installed.package, { recursive: true, encoding: "utf8" });
    const parts = [
      "LICENSE",
      "bin/joust.js",
      "dist/index.js",
      "dist/index.d.ts",
      "dist/index.js.map",
      "dist/store/migrations/sqlite/0001-log.sql",
      "web/dist/index.html",
      "web/dist/licenses.md",
      "models/static/static-encoder.bin",
      "data/queries.jsonl",
      "docs/configuration.md",
      "experiments/expected/README.md",
    ];
    expect(files).toEqual(expect.arrayContaining(parts));
    const tests = /\.(test|case|fixture)\.|^(src|test|bench|tools|node_modules)\b/;
    expect(files.filter((file) => tests.test(file))).toEqual([]);
  });

  it("is no larger than the static encoder and 3 MB", () => {
    const encoder = statSync(join(installed.package, "models/static/static-encoder.bin")).size;
    expect(statSync(installed.tarball).size).toBeLessThan(encoder + 3e6);
  });

  it("brings no Node, no compiler and no onnxruntime", () => {
    const packages = readdirSync(join(installed.folder, "node_modules"));
    const heavy = /^(node$|node-(linux|darwin|win)|joust-runtime|typescript|vite|onnxruntime)/;
    expect(packages.filter((name) => heavy.test(name))).toEqual([]);
  });
});

describe("the command", () => {
  it("serves the page, answers, holds a duel, counts the vote and stops", async () => {
    const { url, post, stop } = await installed.serve();
    const page = await fetch(url);
    expect(page.status).toBe(200);
    const script = /<script [^>]*src="([^"]+)"/.exec(await page.text())![1]!;
    const { status, headers } = await fetch(new URL(script, url));
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain("javascript");
    const question = "Why is the sky blue?";
    expect((await post("/v1/chat/completions", chat(question))).status).toBe(200);
    const duel = await post("/v1/chat/completions", chat(question, { joust: { duel: true } }));
    const { id, choices } = (await duel.json()) as { id: string; choices: unknown[] };
    expect(choices).toHaveLength(2);
    const vote = await post("/v1/feedback", { id, winner: 1 });
    expect(await vote.json()).toMatchObject({ status: "logged" });
    await stop();
    const { stdout } = await installed.joust("votes", "export");
    expect(stdout.trim().split("\n")).toHaveLength(1);
    expect(await installed.joust("replay")).toMatchObject({ code: 0, stderr: "" });
  });

  it("explains every command", async () => {
    const { stdout } = await installed.joust("--help");
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1]!);
    expect(commands.length).toBeGreaterThan(10);
    for (const command of commands) {
      const help = await installed.joust(command, "--help");
      expect(help, command).toMatchObject({ code: 0, stderr: "" });
      expect(help.stdout).toContain(
        command === "help" ? "Usage: joust" : `Usage: joust ${command}`,
      );
    }
  });

  it("simulates, with a policy in a TypeScript file of the user", async () => {
    installed.write("mine.ts", readFileSync(join(ROOT, "examples/mine.ts"), "utf8"));
    const policies = ["--policies", "joust,./mine.ts", "--rounds", "20", "--runs", "2"];
    const { code, stdout } = await installed.joust("simulate", QUERIES, ...SCORES, ...policies);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\.\/mine\.ts /m);
  });

  it("fits the static encoder, plans the experiments and makes keys", async () => {
    const fit = await installed.joust("fit", QUERIES, ...SCORES, "--out", "bundle");
    expect(fit).toMatchObject({ code: 0, stderr: "" });
    const plan = await installed.joust("reproduce", "--quick", "--dry-run");
    expect(plan.stdout).toMatch(/^\d+ jobs/);
    expect((await installed.joust("keys", "add", "ann")).code).toBe(0);
    expect((await installed.joust("keys", "list")).stdout).toContain("ann");
  });
});

describe("without onnxruntime-node", () => {
  const writeModel = temporaryModels();

  it("a transformer is refused with the command that installs it", async () => {
    const model = writeModel(tinyModel("bert"));
    const { code, stderr } = await installed.joust("encode", QUERIES, "--encoder", model);
    expect([code, stderr]).toEqual([
      2,
      `joust: onnxruntime-node: is not installed, and transformer encoders run on it\nhint: ${INSTALL_COMMAND}\n`,
    ]);
  });
});

describe("the library", () => {
  const GATEWAY = `
import { startGateway, type StartOptions } from "joust/gateway";
import { SETTINGS } from "joust/lab";
const options: StartOptions = { config: { server: { port: 0 }, sandbox: { speed: 1000 } }, data: "embedded" };
const gateway = await startGateway(options);
const { status } = await fetch(\`\${gateway.url}/healthz\`);
console.log(status, typeof SETTINGS);
await gateway.close();
`;

  it("routes and learns, and starts a gateway, in a program of the user", async () => {
    installed.write("library.ts", readFileSync(join(ROOT, "examples/library.ts"), "utf8"));
    expect(await installed.run(process.execPath, "library.ts")).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^ask (small and large|large and small)\n$/),
      stderr: "",
    });
    installed.write("gateway.ts", GATEWAY);
    const { stdout } = await installed.run(process.execPath, "gateway.ts");
    expect(stdout).toBe("200 object\n");
  });

  it.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])("has types for module %s and moduleResolution %s", async (module, moduleResolution) => {
    const options = { module, moduleResolution, target: "es2024", strict: true, noEmit: true };
    const project = {
      compilerOptions: { ...options, types: ["node"] },
      files: ["library.ts", "gateway.ts"],
    };
    installed.write(`${module}.json`, JSON.stringify(project));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout } = await installed.run(process.execPath, tsc, "-p", `${module}.json`);
    expect(stdout).toBe("");
  });
});
