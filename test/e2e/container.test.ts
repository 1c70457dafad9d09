import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { build } from "./container.fixture.ts";
import { copyCheckout, ENVIRONMENT } from "./installed.fixture.ts";
import { newFolder, ROOT } from "./joust.fixture.ts";
import { served } from "./serve.fixture.ts";

const CONTAINERFILE = readFileSync(join(ROOT, "deploy/Containerfile"), "utf8");

it("the Containerfile has no fault that the linter knows", () => {
  expect(validate(CONTAINERFILE)).toEqual([]);
});

it("the Containerfile builds in an empty folder, and its image serves and is healthy", async () => {
  const { root, env, commands } = await build({
    text: CONTAINERFILE,
    copyContext: copyCheckout,
    folder: newFolder(),
    env: ENVIRONMENT,
  });
  const inRoot = (word: string) => (/^\/(app|data)\b/.test(word) ? join(root, word) : word);
  const command = [...commands.get("ENTRYPOINT")!, ...commands.get("CMD")!].map(inRoot);
  expect(command).toContain("0.0.0.0");
  // Other machines must not reach the test.
  const [file, ...args] = command.map((word) => (word === "0.0.0.0" ? "127.0.0.1" : word));
  const child = spawn(file!, [...args, "--port", "0"], {
    cwd: join(root, "data"),
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const { url } = await served(child);
  expect((await fetch(url)).status).toBe(200);
  const [node, ...check] = commands.get("HEALTHCHECK")!;
  const probe = check.map((word) => word.replace("http://127.0.0.1:8080", url));
  expect(await once(spawn(node!, probe, { env }), "exit")).toEqual([0, null]);
  child.kill("SIGTERM");
  expect(await exit).toEqual([0, null]);
});

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly [key: string]: unknown;
}

it("the compose file runs the image read-only and without privileges, beside PostgreSQL", () => {
  const { services, volumes } = parse(readFileSync(join(ROOT, "deploy/compose.yaml"), "utf8")) as {
    services: Readonly<Record<"joust" | "postgres", Service>>;
    volumes: object;
  };
  const { joust, postgres } = services;
  expect(join(ROOT, "deploy", joust.build!.context, joust.build!.dockerfile)).toBe(
    join(ROOT, "deploy/Containerfile"),
  );
  expect(joust).toMatchObject({
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    depends_on: { postgres: { condition: "service_healthy" } },
  });
  expect(postgres).toHaveProperty("healthcheck");
  expect(Object.keys(volumes)).toEqual(["joust", "postgres"]);
});

it("the configuration of the compose file is valid", () => {
  const config = join(ROOT, "deploy/joust.yaml");
  const secrets = { POSTGRES_PASSWORD: "secret", JOUST_API_KEY: "a key of 24 characters.." };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, "bin/joust.js"), "serve", "--check", "--config", config],
    { cwd: newFolder(), env: { ...ENVIRONMENT, ...secrets }, encoding: "utf8" },
  );
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("valid");
});
