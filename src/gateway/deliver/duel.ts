import type { Clock } from "../clock/clock.ts";
import { StreamText, textOf } from "../dialects/chat/answer-text.ts";
import {
  choiceOf,
  chunk,
  DuelEvents,
  type DuelHead,
  wholeDuel,
} from "../dialects/chat/duel-events.ts";
import type { Asked, Recorder } from "../log/recorder.ts";
import { callModel, type Errand, NobodyAnswered, reasonOf } from "../providers/attempt.ts";
import type { ServedModel } from "../providers/served-model.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import type { AnswerEnd, UpstreamAnswer } from "../providers/upstream/upstream.ts";
import { type Usage, writeUsage } from "../providers/upstream/usage.ts";
import type { Plan } from "../routing/plan.ts";
import type { Client } from "../wire/client.ts";
import type { Json } from "../wire/json-value.ts";
import { whole } from "./deliver.ts";

/** Two models that answer the same request at once; their names are hidden until the vote. */
export interface Duel {
  readonly plan: Plan;
  readonly errand: Errand;
  readonly asked: Omit<Asked, "slot">;
  readonly head: DuelHead;
  /** What goes into `joust`. */
  readonly note: Json;
  readonly wantsUsage: boolean;
  /** Gets the texts of both answers, where somebody wants them. */
  readonly onTexts?: ((texts: readonly [string, string]) => void) | undefined;
}

interface DuelParts {
  readonly recorder: Recorder;
  readonly clock: Clock;
}

/** What became of one of the two. */
interface Corner {
  readonly slot: number;
  readonly model: ServedModel;
  /** Its answer has begun; undefined where it failed before. */
  readonly answer: Promise<UpstreamAnswer | undefined>;
  error: UpstreamError | undefined;
  readonly startedAt: number;
}

type Corners = readonly [Corner, Corner];

/** US dollars of the two answers. */
type Costs = readonly [number, number];

/** Returns what the answers have cost, when both are over. */
export async function duel(parts: DuelParts, client: Client, duel: Duel): Promise<Costs> {
  const corners: Corners = [enter(parts, duel, 0), enter(parts, duel, 1)];
  return duel.errand.stream
    ? streamed(parts, client, duel, corners)
    : inOnePiece(parts, client, duel, corners);
}

function enter({ clock, recorder }: DuelParts, { plan, errand }: Duel, slot: number): Corner {
  const model = plan.pair[slot]!;
  const answer = callModel(model, errand).catch((error: unknown) => {
    corner.error = asUpstreamError(error, model);
    recorder.upstreamError(model.name, corner.error);
    return undefined;
  });
  const corner: Corner = { slot, model, answer, error: undefined, startedAt: clock.now() };
  return corner;
}

async function inOnePiece(
  parts: DuelParts,
  client: Client,
  duel: Duel,
  corners: Corners,
): Promise<Costs> {
  const answers = await Promise.all(
    corners.map(async (corner) => {
      const answer = await corner.answer;
      if (!answer) return undefined;
      try {
        const choice = choiceOf(JSON.parse(Buffer.from(await whole(answer)).toString()));
        return choice && { choice, end: await answer.end };
      } catch (error) {
        corner.error = asUpstreamError(error, corner.model);
        return undefined;
      }
    }),
  );
  const given = answers.filter((answer) => answer !== undefined);
  if (given.length === 0) throw nobody(corners);
  const costs = record(
    parts,
    duel,
    corners,
    answers.map((answer) => answer?.end),
  );
  const body = wholeDuel(
    duel.head,
    given.map(({ choice }, index) => ({ ...choice, index })),
    writeUsage(sumOf(given.map(({ end }) => end))),
    given.length === 2 ? duel.note : { ...duel.note, ...SINGLE },
  );
  client.send(200, headersOf(duel), body);
  if (given.length === 2) {
    const [a, b] = given.map(({ choice }) => textOf({ choices: [choice] }));
    duel.onTexts?.([a!, b!]);
  }
  return costs;
}

/**
 * Both streams as they come. The second waits until the first has begun or
 * failed: where it fails, the second is the one answer, and in the first place.
 */
async function streamed(
  parts: DuelParts,
  client: Client,
  duel: Duel,
  corners: Corners,
): Promise<Costs> {
  const first = await corners[0].answer;
  if (!first && !(await corners[1].answer)) throw nobody(corners);
  client.beginStream(headersOf(duel));
  const note = first ? duel.note : { ...duel.note, ...SINGLE };
  const opening = { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null };
  await client.write(chunk(duel.head, [opening], { joust: note }));
  const text = duel.onTexts && new StreamText();
  const write = (events: string) => {
    text?.push(Buffer.from(events));
    return client.write(events);
  };
  const ends = await Promise.all(
    corners.map((corner) => play(write, duel, corner, first ? corner.slot : 0)),
  );
  const costs = record(parts, duel, corners, ends);
  const broken = corners.filter(({ error }) => error !== undefined);
  if (first && broken.length > 0) {
    const choices = broken.map(({ slot }) => ({ index: slot, delta: {}, finish_reason: "error" }));
    await client.write(chunk(duel.head, choices, { joust: { ...duel.note, ...SINGLE } }));
  }
  if (duel.wantsUsage) {
    const usage = writeUsage(sumOf(ends.filter((end) => end !== undefined)));
    await client.write(chunk(duel.head, [], { usage }));
  }
  await client.write("data: [DONE]\n\n");
  client.end();
  if (text && first && broken.length === 0) duel.onTexts!([text.text(0), text.text(1)]);
  return costs;
}

/** One answer from its first event to its last; undefined where it never began. */
async function play(
  write: (events: string) => Promise<unknown> | undefined,
  { head }: Duel,
  corner: Corner,
  index: number,
): Promise<AnswerEnd | undefined> {
  const answer = await corner.answer;
  if (!answer) return undefined;
  const events = new DuelEvents(head, index);
  try {
    for await (const piece of answer.body) {
      const text = events.rewrite(piece);
      if (text === "") continue;
      const room = write(text);
      if (room) await room;
    }
  } catch (error) {
    corner.error = asUpstreamError(error, corner.model);
  }
  return answer.end;
}

/** Writes down how both answers ended; returns what they have cost. */
function record(
  { recorder }: DuelParts,
  { asked }: Duel,
  [a, b]: Corners,
  ends: readonly (AnswerEnd | undefined)[],
): Costs {
  const costOf = ({ slot, model, error, startedAt }: Corner) => {
    const own = { ...asked, slot };
    const end = ends[slot];
    if (end) return recorder.answered(own, model, end, [], true);
    if (error) recorder.failed(own, model.name, error, startedAt, []);
    return 0;
  };
  return [costOf(a), costOf(b)];
}

function nobody([a, b]: Corners): NobodyAnswered {
  const fallbacks = [a, b].map(({ model, error }) => ({
    model: model.name,
    reason: error ? reasonOf(error) : "gave no answer",
  }));
  const error = a.error ?? b.error ?? new UpstreamError("broken", a.model.name, "gave no answer");
  return new NobodyAnswered(error, b.model.name, fallbacks);
}

/** A contract says that nothing else comes; a duel must not end on a breach of it. */
function asUpstreamError(error: unknown, model: ServedModel): UpstreamError {
  if (error instanceof UpstreamError) return error;
  return new UpstreamError("broken", model.name, `failed: ${error}`, { cause: error });
}

/** One failing leaves a single answer, and it says so. */
const SINGLE = { duel: false, because: "the other model failed" };

function headersOf({ plan }: Duel): Record<string, string> {
  return { "x-joust-decision-id": plan.decision };
}

/** Of both together: one by one they would tell who is who. */
function sumOf(ends: readonly AnswerEnd[]): Usage {
  const total = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  for (const { usage } of ends) {
    if (!usage) continue;
    total.promptTokens += usage.promptTokens;
    total.completionTokens += usage.completionTokens;
    total.cachedTokens += usage.cachedTokens;
    total.reasoningTokens += usage.reasoningTokens;
  }
  return { ...total, cacheWriteTokens: 0 };
}
