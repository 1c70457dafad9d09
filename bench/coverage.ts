import {
  type Checked,
  type Interval,
  playWorld,
  shareInside,
  slopeOf,
  type World,
} from "../src/gateway/insight/worlds.fixture.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";

const RUNS = 16;
/** Seed of the first run. The report was designed on the seeds from 5000 on. */
const SEED = 6000;
const CHECKPOINTS = [100, 1000, 10_000, 50_000];

const BASE: World = { kind: "table", models: 10, voteScale: 3, ties: 0, told: "none" };
const WORLDS: Readonly<Record<string, World>> = {
  sandbox: { ...BASE, kind: "sandbox" },
  prior: { ...BASE, kind: "prior", voteScale: 2 },
  "prior, ties": { ...BASE, kind: "prior", voteScale: 2, ties: 1 },
  table: BASE,
  "table, ties": { ...BASE, ties: 1 },
  "table, noisy scores told": { ...BASE, told: "noisy" },
  "table, noisy scores told, ties": { ...BASE, told: "noisy", ties: 1 },
  "table, exact scores told": { ...BASE, told: "exact" },
  "table, vote scale 10": { ...BASE, voteScale: 10 },
};

/**
 * Measures how often the 95% intervals of the leaderboard contain the truth, and how reliable its
 * probabilities are, with votes that the policy collects itself. Names select worlds; `--rounds`
 * is the number of runs.
 */
export async function coverage(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const ratios: Record<string, number> = {};
  const runs = flags.rounds ?? RUNS;
  const chosen = Object.entries(WORLDS).filter(([name]) =>
    names.length === 0 ? true : names.includes(name),
  );
  for (const [name, world] of chosen) {
    const played = Array.from({ length: runs }, (_, i) => playWorld(world, SEED + i, CHECKPOINTS));
    for (const [i, votes] of CHECKPOINTS.entries()) {
      const all = played.map((checked) => checked[i]!);
      const part = <T>(of: (checked: Checked) => readonly T[]) => all.flatMap(of);
      const row = {
        cells: shareInside(part(({ cells }) => cells)),
        differences: shareInside(part(({ differences }) => differences)),
        overall: shareInside(part(({ overall }) => overall)),
        "half-width of cells": meanWidth(part(({ cells }) => cells)),
        "slope of P(best)": slopeOf(part(({ best }) => best)),
        "slope of win probability": slopeOf(part(({ wins }) => wins)),
      };
      for (const [measure, value] of Object.entries(row)) {
        ratios[`${name}, ${votes} votes: ${measure}`] = value;
      }
    }
  }
  return { ratios, figures: {} };
}

function meanWidth(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { lo, hi }) => sum + (hi - lo) / 2, 0) / intervals.length;
}
