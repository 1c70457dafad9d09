import { openRows } from "../../lab/data/load.ts";
import type { PlannedJob } from "../../lab/jobs/plan.ts";
import { plural } from "../../lab/report/words.ts";
import type { DataSets } from "../../lab/reproduce/data-sets.ts";
import { type FoundEncoder, type FoundEncoders, NOT_WANTED } from "../../lab/reproduce/encoders.ts";
import type { DataSpec, EmbedSpec } from "../../lab/reproduce/jobs/specs.ts";
import { duration } from "../shared/status-line.ts";

interface DryRun {
  readonly jobs: readonly PlannedJob[];
  /** The jobs that have no cached or published result. */
  readonly remaining: readonly PlannedJob[];
  readonly threads: number;
  readonly encoders: FoundEncoders;
  readonly data: DataSets;
}

/** Describes the work before anything runs: jobs and time, memory, dollars, and what is left out. */
export async function dryRunText(run: DryRun): Promise<string> {
  const { jobs, remaining, threads, encoders } = run;
  const finished = jobs.length - remaining.length;
  const kinds = [...Map.groupBy(remaining, ({ kind }) => kind)].map(([kind, own]) => {
    return `  ${kind.padEnd(10)}${String(own.length).padStart(6)} jobs, about ${duration(1000 * secondsOf(own))} of one core`;
  });
  const total = duration((1000 * secondsOf(remaining)) / threads);
  const gigabytes = (megabytesOf(run) / 1000).toFixed(1);
  const lines = [
    `${plural(remaining.length, "job")}, about ${total} on ${plural(threads, "thread")}; ${finished} more are finished:`,
    ...kinds,
    `Memory: about ${gigabytes} GB.`,
    await dollarsText(run),
    ...encoders.absent
      .filter(({ reason }) => reason !== NOT_WANTED)
      .map(({ name, reason }) => `Left out: ${name} (${reason}).`),
  ];
  return `${lines.join("\n")}\n`;
}

function secondsOf(jobs: readonly PlannedJob[]): number {
  return jobs.reduce((sum, { seconds }) => sum + seconds, 0);
}

/**
 * Measured peaks: 420 MB with one thread and 545 MB with two for the bundled encoder, 1,180 MB
 * with one thread that fine-tunes MiniLM.
 */
function megabytesOf({ remaining, threads, encoders }: DryRun): number {
  const transformers = encoders.here.filter(({ kind }) => kind === "transformer");
  const largest = Math.max(0, ...transformers.map(trainingMegabytes));
  const fits = remaining.filter(({ kind }) => kind === "fit").length;
  return 300 + 125 * threads + largest * Math.min(threads, fits);
}

/**
 * Weights, gradients and two moments in float32, and activations, which are larger for wider
 * layers. A layer of BERT has 12 d^2 weights and the table of words 30,522 d; models with
 * d = 384 have 6 layers, those with d = 768 have 12.
 */
function trainingMegabytes({ dimension: d }: FoundEncoder): number {
  const layers = d > 384 ? 12 : 6;
  return (16 * (12 * layers * d ** 2 + 30_522 * d)) / 1e6 + 1.1 * d;
}

const OPENAI = "OpenAItext";
/** Price of text-embedding-3-large in November 2026. */
const DOLLARS_PER_MILLION_TOKENS = 0.13;
/** English text has about four bytes per token. */
const BYTES_PER_TOKEN = 4;

/** The price of all texts that OpenAItext embeds: queries, and prompts that describe models by queries. */
async function dollarsText({ jobs, encoders, data }: DryRun): Promise<string> {
  const texts = await textsOf(jobs, data);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const here = encoders.here.some(({ name }) => name === OPENAI);
  const examples = here ? promptExamples(jobs) : 0;
  const tokens = (bytes + (examples * bytes) / texts.length) / BYTES_PER_TOKEN;
  const dollars = Math.max(0.01, (tokens / 1e6) * DOLLARS_PER_MILLION_TOKENS).toFixed(2);
  const amount = `about ${(tokens / 1e6).toFixed(2)} million tokens, at most $${dollars} at $${DOLLARS_PER_MILLION_TOKENS} per million`;
  return here
    ? `${OPENAI}: ${amount}. Texts that are cached are not paid for again.`
    : `${OPENAI} is not used. With it, the queries would be ${amount}.`;
}

/** All different queries of the plan. */
async function textsOf(jobs: readonly PlannedJob[], { paths }: DataSets): Promise<string[]> {
  const loads = jobs.filter(({ kind }) => kind === "data").map(({ spec }) => spec as DataSpec);
  const files = new Set(loads.flatMap(({ files }) => files.map(({ sha256 }) => paths[sha256]!)));
  const texts = new Set<string>();
  for (const file of files) {
    for await (const { text } of await openRows(file)) texts.add(text);
  }
  return [...texts];
}

/** Number of queries in the prompts that OpenAItext embeds, for eleven models. */
function promptExamples(jobs: readonly PlannedJob[]): number {
  return jobs
    .filter(({ kind }) => kind === "embed")
    .map(({ spec }) => spec as EmbedSpec)
    .filter(({ encoder }) => encoder.name === OPENAI)
    .reduce((sum, { texts }) => sum + (texts.of === "prompts" ? 11 * texts.prompt.examples : 0), 0);
}
