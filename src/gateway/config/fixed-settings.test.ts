import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { changedFixedSettings } from "./fixed-settings.ts";
import { parseConfig } from "./read-config.ts";

const parse = (yaml: string) => parseConfig(yaml, "joust.yaml", {}, []);

it("finds the changed settings that a reload does not change, which the documentation lists", () => {
  const first = parse("");
  const settings =
    "host: ::1, port: 1, body_mb: 1, buffer_mb: 1, request_seconds: 1, idle_seconds: 1, write_seconds: 1, connections: 1, connections_per_address: 1, trusted_proxies: [10.0.0.1], log: warn";
  const next = parse(`server: {${settings}, rate: 1}\nstore: {url: postgres://db/x, sample: 0.5}`);
  expect(changedFixedSettings(first, parse("server: {rate: 1}"))).toEqual([]);
  const changed = changedFixedSettings(first, next);
  const names = settings.split(", ").map((text) => `server.${text.split(":")[0]}`);
  expect(changed).toEqual([...names, "store.url"]);
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/configuration.md"), "utf8");
  const [sentence] = /^Joust reloads the file.+?(?=\n\n)/ms.exec(page)!;
  for (const name of changed) expect(sentence).toContain(`\`${name.replace("server.", "")}\``);
});
