import { describe, expect, it } from "vitest";
import suite from "../../lab/experiments/index.ts";
import { findDataSets } from "../../lab/reproduce/data-sets.ts";
import type { FoundEncoder, FoundEncoders } from "../../lab/reproduce/encoders.ts";
import { QUICK } from "../../lab/reproduce/planner.ts";
import { plan } from "../../lab/reproduce/reproduce.ts";
import { MINILM, STATIC } from "../../lab/reproduce/results.fixture.ts";
import { dryRunText } from "./dry-run.ts";

const OPENAI: FoundEncoder = {
  name: "OpenAItext",
  kind: "openai",
  dimension: 3072,
  epochs: [],
  ref: { name: "OpenAItext", identity: "OpenAItext" },
};
const data = await findDataSets(undefined);

async function textFor(
  here: readonly FoundEncoder[],
  { absent = [], threads = 2 }: { absent?: FoundEncoders["absent"]; threads?: number } = {},
): Promise<string> {
  const encoders = { here, absent };
  const { planner } = await plan(suite, ["routerbench"], { data, encoders, size: QUICK, seed: 1 });
  const { jobs } = planner.plan;
  return dryRunText({ jobs, remaining: jobs, threads, encoders, data });
}

const gigabytes = (text: string) => Number(/^Memory: about ([\d.]+) GB\.$/m.exec(text)![1]);
const tokens = (text: string) => Number(/about ([\d.]+) million tokens/.exec(text)![1]);

describe("joust reproduce --dry-run", () => {
  it("states the time of every kind of job and of all", async () => {
    const text = await textFor([STATIC]);
    expect(text).toMatch(/^\d+ jobs, about .* on 2 threads; 0 more are finished:\n/);
    expect(text).toMatch(/^ {2}run +\d+ jobs, about .* of one core$/m);
  });

  it("leaves out the jobs that have a result", async () => {
    const encoders = { here: [STATIC], absent: [] };
    const planning = { data, encoders, size: QUICK, seed: 1 };
    const { jobs } = (await plan(suite, ["routerbench"], planning)).planner.plan;
    const remaining = jobs.filter(({ kind }) => kind === "run").slice(0, 3);
    const text = await dryRunText({ jobs, remaining, threads: 1, encoders, data });
    expect(text).toContain(`3 jobs, about 1 s on 1 thread; ${jobs.length - 3} more are finished:`);
    expect(text).not.toMatch(/^ {2}fit/m);
    expect(text).toContain("the queries would be about");
  });

  it("states more memory for more threads and for training a transformer", async () => {
    const one = gigabytes(await textFor([STATIC], { threads: 1 }));
    const two = gigabytes(await textFor([STATIC]));
    const trained = gigabytes(await textFor([MINILM]));
    expect([one, two]).toEqual([0.4, 0.6]);
    expect(trained).toBeGreaterThan(2 * two);
  });

  it("states dollars for OpenAItext, and what it would cost if there is no key", async () => {
    const without = await textFor([STATIC]);
    expect(without).toMatch(
      /^OpenAItext is not used\. With it, the queries would be about .* at most \$0\.01 at \$0\.13 per million\.$/m,
    );
    const used = await textFor([STATIC, OPENAI]);
    expect(used).toMatch(/^OpenAItext: about .* Texts that are cached are not paid for again\.$/m);
    expect(tokens(used)).toBeGreaterThanOrEqual(tokens(without));
  });

  it("names the encoders that are left out, unless the user chose others", async () => {
    const absent = [
      { name: "mpnet", reason: "its weights are missing; joust models get mpnet downloads them" },
      { name: "e5b", reason: "not requested" },
    ];
    const text = await textFor([STATIC], { absent });
    expect(text).toContain(
      "Left out: mpnet (its weights are missing; joust models get mpnet downloads them).\n",
    );
    expect(text).not.toContain("e5b");
  });
});
