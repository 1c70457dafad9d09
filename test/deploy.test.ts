import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { temporaryFolder } from "../src/core/input/folder.fixture.ts";
import { parseConfig } from "../src/gateway/config/read-config.ts";
import { Metrics } from "../src/gateway/telemetry/metrics.ts";

const ROOT = join(import.meta.dirname, "..");
const write = temporaryFolder();
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

/** Runs a program that must succeed. */
function run(program: string, ...args: string[]) {
  const done = spawnSync(program, args, { cwd: join(ROOT, "deploy"), encoding: "utf8" });
  expect([done.status, done.stderr]).toEqual([0, expect.any(String)]);
  return done;
}

const isMissing = (program: string) => spawnSync(program, ["--version"]).error !== undefined;

// Not everyone has these programs.
it.skipIf(isMissing("systemd-analyze"))("systemd accepts the unit", () => {
  const unit = read("systemd/joust.service").replace("/usr/local/bin/joust", process.execPath);
  const { stderr } = run("systemd-analyze", "verify", "--man=no", write("joust.service", unit));
  // Unknown directives are only warnings.
  expect(stderr.split("\n").filter((line) => line.includes("joust.service"))).toEqual([]);
});

it.skipIf(isMissing("promtool"))("Prometheus accepts the alerts, and their tests pass", () => {
  run("promtool", "test", "rules", "prometheus/joust.rules.test.yaml");
});

it.skipIf(isMissing("helm"))("Helm renders the chart for one node and for several", () => {
  const render = (...values: string[]) =>
    run("helm", "template", "joust", "helm/joust", "--kube-version", "1.27.0", ...values).stdout;
  const secret = ["--set", "secretName=joust"];
  expect(render(...secret)).toMatch(/kind: PersistentVolumeClaim/);
  const shared = ["--set", "replicas=3,config.store.url=postgres://joust@db/joust"];
  const all = render(...secret, ...shared, "--set", "ingress.enabled=true,monitoring.enabled=true");
  for (const kind of ["PodDisruptionBudget", "Ingress", "ServiceMonitor", "PrometheusRule"])
    expect(all).toContain(`kind: ${kind}\n`);
});
