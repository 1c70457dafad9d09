import { join } from "node:path";
import type { BenchFlags, BenchResult } from "../bench.ts";
import { withGateway } from "../gateway-process.ts";
import { CACHE } from "../python.ts";
import { install, versionsOf } from "./environments.ts";
import { report } from "./report.ts";
import { ROSTER } from "./roster.ts";
import { type Outcome, routerOf, runClient } from "./run-client.ts";
import { CLIENT_KEY, UPSTREAM_KEY, Upstream } from "./upstream/upstream.ts";

/**
 * Runs real clients against a gateway process whose models are a strict upstream of each dialect, and writes
 * the table of docs/clients.md. Clients that are not named keep their rows.
 */
export async function clients(
  names: readonly string[],
  { folder: root = join(CACHE, "clients") }: BenchFlags,
): Promise<BenchResult> {
  const unknown = names.find((name) => !ROSTER.some((client) => client.name === name));
  if (unknown !== undefined) {
    const known = ROSTER.map(({ name }) => name).join(", ");
    throw new Error(`there is no client "${unknown}"; known clients: ${known}`);
  }
  const chosen = ROSTER.filter(({ name }) => names.length === 0 || names.includes(name));
  const upstream = await Upstream.start();
  const figures: Record<string, number> = {};
  const runAll = async (url: string, storingUrl: string) => {
    for (const client of chosen) {
      const { kind } = client.environment;
      const folder = await install(root, client.environment);
      const versions = await versionsOf(folder, kind, client.versions);
      const outcome = await runClient(client, { folder, url, storingUrl, upstream });
      figures[`${client.name} failed`] = problemsOf(outcome);
      await report(client, versions, outcome);
    }
  };
  const open = (storesResponses: boolean, use: (url: string) => Promise<void>) =>
    withGateway(configuration(upstream, storesResponses), ({ url }) => use(url), {
      env: { UPSTREAM_KEY },
    });
  try {
    await open(false, (url) => open(true, (storingUrl) => runAll(url, storingUrl)));
  } finally {
    upstream.close();
  }
  const failed = Object.values(figures).reduce((sum, problems) => sum + problems, 0);
  return { ratios: { "cells failed": failed }, figures };
}

function problemsOf(outcome: Outcome): number {
  const cells = Object.values(outcome).flatMap((cell) => Object.values(cell));
  return cells.filter((problem) => problem !== undefined).length;
}

/** A router for each dialect of the upstream. */
function configuration(upstream: Upstream, storesResponses: boolean): string {
  const dialects = ["chat", "responses", "messages"] as const;
  return JSON.stringify({
    keys: { bench: { key: CLIENT_KEY } },
    store: { prompts: storesResponses },
    providers: Object.fromEntries(
      dialects.map((dialect) => [
        `${dialect}-host`,
        {
          url: upstream.url(dialect),
          dialects: { [dialect]: upstream.url(dialect) },
          key: UPSTREAM_KEY,
        },
      ]),
    ),
    models: Object.fromEntries(
      dialects.map((dialect) => [
        `${dialect}-model`,
        {
          provider: `${dialect}-host`,
          model: `up-${dialect}`,
          retries: 0,
          price: { input: 1, output: 2 },
        },
      ]),
    ),
    routers: Object.fromEntries(
      dialects.map((dialect) => [
        routerOf(dialect),
        { models: [`${dialect}-model`], aliases: [`claude-${dialect}-*`] },
      ]),
    ),
  });
}
