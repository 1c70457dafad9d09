import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { parseConfig } from "../src/gateway/config/read-config.ts";
import { Metrics } from "../src/gateway/telemetry/metrics.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(ROOT, "deploy", file), "utf8");

/** Names of the series of our metrics: a histogram has three. */
async function seriesNames(): Promise<Set<string>> {
  const metrics = await new Metrics().registry.getMetricsAsJSON();
  return new Set(
    metrics.flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
  );
}

const namesIn = (text: string) => [...new Set(text.match(/\b(joust|process)_[a-z_]+\b/g))];

it.each([
  ["grafana/joust.json", 20],
  ["prometheus/joust.rules.yaml", 9],
  ["prometheus/joust.rules.test.yaml", 9],
])("%s names only metrics that the gateway has", async (file, least) => {
  const known = await seriesNames();
  const names = namesIn(read(file));
  expect(names.filter((name) => !known.has(name))).toEqual([]);
  expect(names.length).toBeGreaterThanOrEqual(least);
});

it("the dashboard's panels have a description and a unit each, and do not overlap", () => {
  interface Panel {
    readonly title: string;
    readonly type: string;
    readonly description?: string;
    readonly gridPos: {
      readonly x: number;
      readonly y: number;
      readonly w: number;
      readonly h: number;
    };
    readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  }
  const { panels } = JSON.parse(read("grafana/joust.json")) as { panels: Panel[] };
  const taken = new Map<string, string>();
  for (const { title, type, description, gridPos, fieldConfig } of panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([title, taken.get(`${x} ${y}`)]).toEqual([title, undefined]);
        taken.set(`${x} ${y}`, title);
      }
    }
    if (type === "row") continue;
    expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)]);
    expect([title, fieldConfig?.defaults.unit]).toEqual([title, expect.any(String)]);
  }
});

it("every alert has a rule that the rules' own test covers, a severity and a description", () => {
  const { groups } = parse(read("prometheus/joust.rules.yaml")) as {
    groups: {
      rules: {
        alert: string;
        labels: { severity: string };
        annotations: { summary: string; description: string };
      }[];
    }[];
  };
  const test = read("prometheus/joust.rules.test.yaml");
  const rules = groups.flatMap(({ rules }) => rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, labels, annotations } of rules) {
    expect(test).toContain(`alertname="${alert}"`);
    expect(["critical", "warning", "info"]).toContain(labels.severity);
    expect(annotations.summary && annotations.description).toBeTruthy();
  }
});

it("the chart's default configuration is valid, and its version is the package's", () => {
  const { config } = parse(read("helm/joust/values.yaml")) as { config: object };
  const variables = { JOUST_API_KEY: "a key of sixteen or more" };
  expect(parseConfig(stringify(config), "joust.yaml", variables, []).server).toMatchObject({
    host: "0.0.0.0",
    shutdown_delay_seconds: 5,
  });
  const { appVersion } = parse(read("helm/joust/Chart.yaml")) as { appVersion: string };
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(appVersion).toBe(version);
});
