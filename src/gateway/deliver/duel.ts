import type { DuelWriter } from "../dialects/dialect.ts";
import { asUpstreamError, type DuelAttempt, duelFailed } from "../providers/attempt.ts";
import { type AnswerEnd, readAll } from "../providers/upstream/upstream.ts";
import { NO_USAGE, type Usage, usageOf } from "../providers/upstream/usage.ts";
import type { Client } from "../wire/client.ts";
import type { DeliveredAnswer, ResponseForm } from "./deliver.ts";
import { estimatedUsage } from "./later.ts";

type Attempts = readonly [DuelAttempt, DuelAttempt];

/**
 * Writes the answers of both models in one response. The names of the models stay hidden until
 * the vote. Throws AttemptsFailed, before anything is written, if both models fail.
 */
export async function deliverDuel(
  client: Client,
  attempts: Attempts,
  form: ResponseForm,
  { created, graceMs }: DuelTimes,
): Promise<DeliveredAnswer[]> {
  const { dialect, request, decision } = form;
  const writer = dialect.duel({ id: decision, created, model: request.model });
  return request.stream
    ? deliverStreams(client, attempts, form, writer, graceMs)
    : deliverWhole(client, attempts, form, writer, graceMs);
}

interface DuelTimes {
  /** Seconds since 1970. */
  readonly created: number;
  /** Time that one answer waits for the other: to begin in a stream, otherwise to be complete. */
  readonly graceMs: number;
}

/** Waits for both. When one of them is ready, the other one is given up after the grace period. */
async function withGrace<T>(
  attempts: Attempts,
  ready: readonly [Promise<T | undefined>, Promise<T | undefined>],
  graceMs: number,
): Promise<(T | undefined)[]> {
  const timers: NodeJS.Timeout[] = [];
  for (const [slot, promise] of ready.entries()) {
    promise.then((answer) => {
      if (answer) timers.push(setTimeout(() => attempts[1 - slot]!.giveUp(), graceMs));
    });
  }
  try {
    return await Promise.all(ready);
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

async function deliverWhole(
  client: Client,
  attempts: Attempts,
  { decision, promptTokens, note, needsText }: ResponseForm,
  writer: DuelWriter,
  graceMs: number,
): Promise<DeliveredAnswer[]> {
  const complete = async (attempt: DuelAttempt) => {
    const answer = await attempt.answer;
    if (!answer) return undefined;
    try {
      const content = writer.answerIn(await readAll(answer));
      return content && { content, end: await answer.end };
    } catch (error) {
      attempt.error = asUpstreamError(error, attempt.model);
      return undefined;
    }
  };
  const [first, second] = attempts;
  const answers = await withGrace(attempts, [complete(first), complete(second)], graceMs);
  const given = answers.filter((answer) => answer !== undefined);
  if (given.length === 0) throw duelFailed(attempts);
  const models = attempts.map(({ model }, slot) => (answers[slot] ? model.name : ""));
  const joust = { ...(await note(models)), ...(given.length === 2 ? DUEL : SINGLE) };
  const contents = given.map(({ content }) => content);
  const ends = answers.map((answer) => answer?.end);
  const usage = totalUsage(ends, promptTokens);
  client.send(200, { "x-joust-decision-id": decision }, writer.whole(contents, usage, joust));
  const isTextNeeded = given.length === 2 && needsText();
  return attempts.map((attempt, slot) => {
    const answer = answers[slot];
    return delivered(
      attempt,
      answer?.end,
      isTextNeeded ? writer.textOf(answer!.content) : undefined,
    );
  });
}

/**
 * Writes both streams as they come. The second one waits until the first has begun or failed:
 * if the first fails, the second is the only answer and takes index 0.
 */
async function deliverStreams(
  client: Client,
  attempts: Attempts,
  { dialect, decision, wantsUsage, promptTokens, note, needsText, keepSecond }: ResponseForm,
  writer: DuelWriter,
  graceMs: number,
): Promise<DeliveredAnswer[]> {
  // The grace period runs in the background, because the first answer is needed before anything is written.
  const begun = withGrace(attempts, [attempts[0].answer, attempts[1].answer], graceMs);
  const hasFirst = (await attempts[0].answer) !== undefined;
  if (!hasFirst && !(await attempts[1].answer)) throw duelFailed(attempts);
  const names = attempts.map(({ model }) => model.name);
  const joust = await note(hasFirst ? names : ["", names[1]!]);
  const texts = needsText() ? attempts.map(() => dialect.streamText()) : [];
  client.beginStream({ "x-joust-decision-id": decision });
  await client.write(writer.open({ ...joust, ...(hasFirst ? DUEL : SINGLE) }));
  const ends = await Promise.all(
    attempts.map((attempt) => {
      const rewrite = writer.rewrite(hasFirst ? attempt.slot : 0);
      const read = (piece: Uint8Array) => {
        texts[attempt.slot]?.push(piece);
        return rewrite(piece);
      };
      return pass(attempt, read, (events) => client.write(events));
    }),
  );
  await begun;
  // From here on nothing waits, so that the answers are logged before a vote on them can arrive.
  const broken = attempts.filter(({ error }) => error !== undefined);
  if (hasFirst && broken.length > 0) {
    const indices = broken.map(({ slot }) => slot);
    const left = names.map((name, slot) => (indices.includes(slot) ? "" : name));
    client.write(writer.fail(indices, { ...(await note(left)), ...SINGLE }));
  }
  const usage = wantsUsage ? totalUsage(ends, promptTokens) : undefined;
  const error = broken.length === attempts.length ? broken[0]!.error : undefined;
  const isFirstLost = hasFirst && attempts[0].error !== undefined;
  const uncounted = writer.secondAnswer?.();
  if (uncounted) {
    const shown = dialect.textOf(Buffer.from(JSON.stringify(uncounted)));
    const second = writer.secondAnswer?.(estimatedUsage(promptTokens, shown));
    const { router } = joust;
    const own = { decision_id: decision, router, ...DUEL, slot: 1 };
    keepSecond(JSON.stringify({ ...second, joust: own }));
  }
  client.write(writer.end(usage, { error, isFirstLost }));
  client.end();
  const isComplete = hasFirst && broken.length === 0;
  return attempts.map((attempt, slot) =>
    delivered(attempt, ends[slot], isComplete ? texts[slot]?.text() : undefined),
  );
}

/** Passes one answer on from its first event to its last. Undefined if it never began. */
async function pass(
  attempt: DuelAttempt,
  rewrite: (piece: Uint8Array) => string,
  write: (events: string) => Promise<unknown> | undefined,
): Promise<AnswerEnd | undefined> {
  const answer = await attempt.answer;
  if (!answer) return undefined;
  try {
    for await (const piece of answer.body) {
      const events = rewrite(piece);
      if (events === "") continue;
      const room = write(events);
      if (room) await room;
    }
  } catch (error) {
    attempt.error = asUpstreamError(error, attempt.model);
  }
  return answer.end;
}

function delivered(
  { slot, model, error, startedAt }: DuelAttempt,
  end: AnswerEnd | undefined,
  text: string | undefined,
): DeliveredAnswer {
  const failure = !end && error ? { failure: { error, startedAt } } : {};
  return { slot, model, fallbacks: [], end, ...failure, text };
}

const DUEL = { duel: true };
/** The member `joust` of a duel of which a single answer is left, because the other model failed. */
const SINGLE = { duel: false, because: "the other model failed" };

/** Usage of both answers together, because separate numbers would reveal the models. It is estimated where it is unknown. */
function totalUsage(ends: readonly (AnswerEnd | undefined)[], prompt: number): Usage {
  return ends.reduce((total, end) => {
    if (!end) return total;
    const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usageOf(end, prompt);
    return {
      promptTokens: total.promptTokens + promptTokens,
      completionTokens: total.completionTokens + completionTokens,
      cachedTokens: total.cachedTokens + cachedTokens,
      reasoningTokens: total.reasoningTokens + reasoningTokens,
      cacheWriteTokens: 0,
    };
  }, NO_USAGE);
}
