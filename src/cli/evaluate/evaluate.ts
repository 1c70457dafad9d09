import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { categoryMembership } from "../../core/bandit/features.ts";
import { createPolicy } from "../../core/bandit/options.ts";
import { joust } from "../../core/bandit/policies/joust.ts";
import { withLock } from "../../core/input/folder-lock.ts";
import { InputError } from "../../core/input/input-error.ts";
import { writeError } from "../../core/input/system-error.ts";
import { Random } from "../../core/random/random.ts";
import { DollarLimit } from "../../gateway/access/dollar-limit.ts";
import { type Clock, systemClock } from "../../gateway/clock/clock.ts";
import { ActivePairs } from "../../gateway/evaluation/active-pairs.ts";
import {
  compareAnswers,
  comparedBefore,
  type PairChooser,
} from "../../gateway/evaluation/compare-answers.ts";
import { Journal } from "../../gateway/evaluation/journal.ts";
import { PaidCalls } from "../../gateway/evaluation/paid-calls.ts";
import {
  answersAskedAgain,
  type Plan,
  planComparisons,
  planScores,
} from "../../gateway/evaluation/plan.ts";
import { RandomPairs } from "../../gateway/evaluation/random-pairs.ts";
import { scoreAnswers } from "../../gateway/evaluation/score-answers.ts";
import { areAllEqual, completePrompts, scoreLines } from "../../gateway/evaluation/score-table.ts";
import { runTest } from "../../gateway/evaluation/test-command.ts";
import { poolOf } from "../../gateway/routing/calibration.ts";
import { plural } from "../../lab/report/words.ts";
import { type Interrupt, interruptible } from "../shared/interrupt.ts";
import { applyScores, applyVotes } from "./apply.ts";
import { EVALUATE_DEFAULTS, type EvaluateFlags } from "./flags.ts";
import {
  modelTable,
  nextStep,
  planText,
  usd,
  winTable,
  writeOutcomes,
  writeScores,
  writeVotes,
} from "./output.ts";
import { Progress } from "./progress.ts";
import { openSetup, type Setup } from "./setup.ts";

/** Evaluates the models of a router on prompts, and prints a summary. Returns the exit code. */
export async function runEvaluate(
  source: string,
  flags: EvaluateFlags,
  clock: Clock = systemClock,
): Promise<number> {
  checkFlags(flags);
  const setup = await openSetup(source, flags);
  warnOfOwnJudge(setup);
  const interrupt = interruptible();
  try {
    makeFolder(flags.out);
    const lock = join(flags.out, "lock");
    const onWait = () =>
      void process.stderr.write(`joust: waiting for another evaluation in ${flags.out}\n`);
    const run = () => evaluateIn(setup, flags, interrupt, clock);
    return await withLock(lock, run, { signal: interrupt.signal, onWait });
  } finally {
    interrupt.release();
    await setup.builder.close();
  }
}

/** Creates the folder of the results for its owner alone. The lock would create it with the usual permissions. */
function makeFolder(out: string): void {
  try {
    mkdirSync(out, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw writeError(out, error);
  }
}

function warnOfOwnJudge({ judge, models }: Setup): void {
  if (!judge || !models.some(({ name }) => name === judge.name)) return;
  process.stderr.write(
    `joust: the judge ${judge.name} is one of the compared models, and models prefer their own answers; --exclude ${judge.name} leaves it out\n`,
  );
}

function checkFlags({ judge, active, pairs, regex, schema, test, budget, dryRun }: EvaluateFlags) {
  const needsJudge = active ? "--active" : pairs !== undefined ? "--pairs" : undefined;
  if (judge === undefined && needsJudge !== undefined) {
    const hint = "give the model that compares the answers: --judge MODEL";
    throw new InputError({ file: needsJudge }, "needs a judge", hint);
  }
  const ways = Object.entries({ judge, regex, schema, test }).filter(([, value]) => value);
  if (ways.length > 1) {
    const [first, second] = ways.map(([name]) => `--${name}`);
    throw new InputError({ file: second! }, `is given together with ${first}`, "give one of them");
  }
  if (budget === undefined && !dryRun) {
    const hint =
      "write for example --budget 5 (US dollars), or --dry-run to see what the evaluation would cost";
    throw new InputError({ file: "--budget" }, "is missing", hint);
  }
}

async function evaluateIn(
  setup: Setup,
  flags: EvaluateFlags,
  interrupt: Interrupt,
  clock: Clock,
): Promise<number> {
  const { maxTokens, retries, budget = 0, seed = EVALUATE_DEFAULTS.seed } = flags;
  const journal = await Journal.open(join(flags.out, JOURNAL));
  try {
    const limit = new DollarLimit(budget, journal.spent);
    const calls = new PaidCalls(
      { maxTokens, retries, assumedPrice: setup.assumedPrice },
      {
        journal,
        limit,
        clock,
        random: Random.seeded(seed).split("retries"),
        signal: interrupt.signal,
      },
    );
    const run = { setup, flags, journal, limit, calls, interrupt };
    warnOfOtherLimit(run);
    if (flags.dryRun) {
      const plan = planOf(run);
      const { spent } = limit;
      process.stdout.write(
        flags.json
          ? `${JSON.stringify({ ...plan, spent })}\n`
          : planText(plan, flags.budget, spent),
      );
      return 0;
    }
    return await (setup.judge ? evaluateByJudge(run) : evaluateByScore(run));
  } finally {
    journal.close();
  }
}

const JOURNAL = "journal.jsonl";

/** Says that answers of an earlier run are paid for again, because --max-tokens has changed. */
function warnOfOtherLimit({ setup: { prompts, models }, flags, journal }: Run): void {
  const { maxTokens, out } = flags;
  for (const again of answersAskedAgain(prompts, models, maxTokens, journal)) {
    const count = plural(again.answers, "answer");
    process.stderr.write(
      `joust: ${count} in ${out} had --max-tokens ${again.maxTokens} and cannot be used with ${maxTokens}, so the same requests are paid for again; to use them, give --max-tokens ${again.maxTokens}\n`,
    );
  }
}

/** An evaluation that is running. */
interface Run {
  readonly setup: Setup;
  readonly flags: EvaluateFlags;
  readonly journal: Journal;
  readonly limit: DollarLimit;
  readonly calls: PaidCalls;
  readonly interrupt: Interrupt;
}

function planOf({ setup, flags, journal, calls }: Run): Plan {
  const { prompts, models, judge } = setup;
  const { concurrency } = flags;
  if (!judge) return planScores(prompts, models, calls, journal, concurrency);
  const done = comparedBefore(prompts, models, judge, journal).length;
  const count = Math.max(0, pairCount(setup, flags) - done);
  return planComparisons(prompts, models, judge, count, calls, concurrency);
}

function pairCount({ prompts, models }: Setup, { pairs }: EvaluateFlags): number {
  const all = (prompts.length * models.length * (models.length - 1)) / 2;
  return Math.min(all, pairs ?? EVALUATE_DEFAULTS.pairs * prompts.length);
}

async function evaluateByScore(run: Run): Promise<number> {
  const { setup, flags, journal, limit, calls, interrupt } = run;
  const { prompts, models, scoring, builder, config, router } = setup;
  // A command that cannot be started is reported before an answer is paid for.
  if (scoring.test) await runTest(scoring.test, prompts[0]!, "");
  const progress = new Progress("answers", prompts.length * models.length, limit);
  const scored = await scoreAnswers(
    prompts,
    models,
    scoring,
    { calls, journal },
    {
      concurrency: flags.concurrency,
      signal: interrupt.signal,
      onDone: () => progress.step(),
    },
  ).finally(() => progress.end());
  // A model that has only failed is left out. A model that the budget did not reach is kept.
  const answering = models
    .map(({ name }) => name)
    .filter(
      (name) => !calls.failures.get(name)?.count || scored.some(({ answers }) => answers.has(name)),
    );
  const complete = completePrompts(scored, answering);
  if (complete.length === 0) return reportNoResult(run, "no prompt was answered by all models");
  const { categories, centroids, encoder } = await builder.calibration(config.routers[router]!);
  const membership = categoryMembership(centroids);
  const embeddings = await encoder.encode(complete.map(({ prompt }) => prompt.text));
  const categoryOf = new Map(
    complete.map((one, i) => {
      const w = membership(embeddings[i]!);
      const own = one.prompt.category;
      const nearest = categories[w.indexOf(Math.max(...w))]!;
      return [one, own !== undefined && categories.includes(own) ? own : nearest];
    }),
  );
  const lines = scoreLines(complete, answering, (one) => categoryOf.get(one)!);
  const outcomes = await writeOutcomes(flags.out, complete, answering);
  const scores = await writeScores(flags.out, lines);
  const isComplete = !interrupt.signal.aborted;
  const isUseless = areAllEqual(lines);
  const applied =
    flags.router !== undefined && isComplete && !isUseless
      ? await applyScores(setup, lines, scores, flags)
      : undefined;
  if (flags.json) {
    const record = { spent: journal.spent, prompts: complete.length, scores: lines, applied };
    process.stdout.write(`${JSON.stringify(record)}\n`);
  } else {
    process.stdout.write(
      `${modelTable(complete, answering)}\n${summary(run, `${complete.length} of ${plural(prompts.length, "prompt")} evaluated completely`, { outcomes, scores }, applied, isUseless ? [ALL_EQUAL] : [])}`,
    );
  }
  return interrupt.code;
}

async function evaluateByJudge(run: Run): Promise<number> {
  const { setup, flags, journal, limit, calls, interrupt } = run;
  const { prompts, models, judge, builder, config, router } = setup;
  const count = pairCount(setup, flags);
  const calibration = await builder.calibration(config.routers[router]!);
  const chooser = await chooserOf(run, calibration);
  const progress = new Progress("comparisons", count, limit);
  const parts = { calls, journal, judge: judge!, clock: systemClock };
  const { compared, undecided } = await compareAnswers(prompts, models, chooser, count, parts, {
    concurrency: flags.concurrency,
    signal: interrupt.signal,
    onDone: () => progress.step(),
  }).finally(() => progress.end());
  if (compared.length === 0) {
    const hint = `hint: choose a judge that replies A, B, TIE or BAD; the replies are in ${join(flags.out, JOURNAL)}`;
    const hasFailed = [...calls.failures.values()].some(({ count: failed }) => failed > 0);
    const missing = `no comparison has a verdict of the judge ${judge!.name}`;
    return reportNoResult(run, hasFailed ? missing : `${missing}\n${hint}`);
  }
  const names = models.map(({ name }) => name);
  const weight = config.routers[router]!.judge?.weight ?? JUDGE_WEIGHT;
  const votes = await writeVotes(flags.out, compared, prompts, weight);
  const isComplete = !interrupt.signal.aborted;
  const applied =
    flags.router !== undefined && isComplete
      ? await applyVotes(setup, votes, calibration, names, {
          data: flags.data,
          database: flags.database,
        })
      : undefined;
  if (flags.json) {
    const record = { spent: journal.spent, comparisons: compared.length, undecided, applied };
    process.stdout.write(`${JSON.stringify(record)}\n`);
  } else {
    const failed = undecided > 0 ? `; ${undecided} without a verdict` : "";
    process.stdout.write(
      `${winTable(compared, names)}\n${summary(run, `${plural(compared.length, "comparison")} by ${judge!.name}${failed}`, { votes }, applied)}`,
    );
  }
  return interrupt.code;
}

/** Weight of the judge's votes, as in joust.yaml. */
const JUDGE_WEIGHT = 1;

async function chooserOf(
  { setup, flags, calls }: Run,
  calibration: Parameters<typeof poolOf>[0],
): Promise<PairChooser> {
  const { prompts, models } = setup;
  const random = Random.seeded(flags.seed ?? EVALUATE_DEFAULTS.seed).split("pairs");
  const isUsable = (k: number) => !calls.hasGivenUp(models[k]!.name);
  if (!flags.active) return new RandomPairs(prompts.length, models.length, random, isUsable);
  const pool = poolOf(
    calibration,
    models.map(({ name }) => name),
  );
  const embeddings = await calibration.encoder.encode(prompts.map(({ text }) => text));
  const memberships = embeddings.map(categoryMembership(calibration.centroids));
  const policy = createPolicy(joust, pool);
  return new ActivePairs(policy, { embeddings, memberships }, models.length, random, isUsable);
}

function summary(
  { setup, flags, journal, calls, interrupt }: Run,
  done: string,
  files: Readonly<Record<string, string>>,
  applied: string | undefined,
  warnings: readonly string[] = [],
): string {
  const left = flags.budget! - journal.spent;
  const lines = [
    `${done}; ${usd(journal.spent)} of ${usd(flags.budget!)} spent`,
    ...Object.entries(files).map(([name, file]) => `  ${name.padEnd(9)} ${file}`),
    ...failureLines(calls),
    ...(applied === undefined ? [] : [`  router    ${applied}`]),
    ...warnings,
    ...(calls.isExhausted
      ? [
          `The budget is used up${left > 0 ? `: one more request may cost more than the ${usd(left)} that is left` : ""}. A higher --budget continues where this run ended.`,
        ]
      : []),
    ...(interrupt.signal.aborted
      ? ["Stopped. The same command continues and pays for nothing twice."]
      : warnings.length > 0
        ? []
        : [`Next: ${nextStep(applied, setup.router)}`]),
  ];
  return `${lines.join("\n")}\n`;
}

const ALL_EQUAL =
  "All models have the same score in every category, so nothing was saved for the router. Check the answers and the scorer. Models of the sandbox can only be right on Joust's own questions, data/queries.jsonl.";

function failureLines(calls: PaidCalls): string[] {
  return [...calls.failures].flatMap(([model, { count, leftOut, reason }]) => {
    if (count === 0) return [];
    const rest = leftOut > 0 ? `: ${plural(leftOut, "more request")} to it were left out` : "";
    const then = calls.hasGivenUp(model)
      ? ` (then no longer called${rest}; the same command tries again, --exclude ${model} evaluates the others)`
      : "";
    return [`  failed    ${plural(count, "request")} to ${model}: ${reason}${then}`];
  });
}

/** Reports that there is no result, `otherwise` unless the budget or the user has ended the run. Returns the exit code. */
function reportNoResult({ calls, flags, interrupt }: Run, otherwise: string): number {
  const reason = calls.isExhausted
    ? `the budget of ${usd(flags.budget!)} is less than one prompt may cost\nhint: raise --budget, or lower --max-tokens (${flags.maxTokens})`
    : interrupt.signal.aborted
      ? "stopped before the first result"
      : otherwise;
  const failures = failureLines(calls).map((line) => `${line}\n`);
  process.stderr.write(`joust: ${reason}\n${failures.join("")}`);
  return interrupt.code || 1;
}
