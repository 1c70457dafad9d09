import { randomUUID } from "node:crypto";
import type { Decision, Reasons } from "../../store/decision.ts";
import { readKey, seal } from "../../store/seal.ts";
import type { Caller } from "../access/access.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import type { Wishes } from "../dialects/chat/joust-options.ts";
import type { Chat } from "../dialects/chat/request.ts";
import type { Recorder } from "../log/recorder.ts";
import type { Stopwatch } from "../telemetry/stopwatch.ts";
import type { LiveRouter } from "./live-router.ts";
import { type Details, type Plan, plan } from "./plan.ts";
import type { Serving } from "./serving.ts";
import { implicitId, type Session, type Sessions } from "./sessions.ts";

/** A request that is decided on, before anybody is asked. */
export interface Decided {
  readonly plan: Plan;
  /** To be logged, when there is time. */
  readonly details: Details;
  readonly session: Session | undefined;
}

export interface DecideParts {
  readonly serving: () => Serving;
  readonly sessions: Sessions;
  readonly clock: Clock;
  newSeed(): number;
}

/** prompt -> x -> plan, with what session, key and router say of it. */
export async function decide(
  parts: DecideParts,
  caller: Caller,
  router: LiveRouter,
  chat: Chat,
  wishes: Wishes,
  stopwatch?: Stopwatch,
): Promise<Decided> {
  const session = sessionOf(router, caller, chat, wishes);
  const before = session && (await parts.sessions.modelOf(session, chat.isRunning));
  const isKept = before !== undefined && (chat.inToolLoop || !session!.isImplicit);
  const { x, failed } = await router.encode(chat.prompt);
  stopwatch?.stage("encode");
  const { duel, note } = duelFor(router, caller, chat, wishes);
  const decision = randomUUID();
  const planned = plan(router.view, {
    decision,
    x,
    needs: chat.needs,
    allowed: wishes.allowed,
    tradeoff: wishes.tradeoff ?? router.config.cost_quality_tradeoff,
    duel,
    kept: isKept ? { model: before, firmly: chat.inToolLoop } : undefined,
    seed: parts.newSeed(),
  });
  router.cap.routed(planned.isDuel);
  stopwatch?.stage("decide");
  return {
    plan: planned,
    session,
    details: {
      at: parts.clock.date(),
      owner: caller.owner,
      session: session?.isImplicit ? undefined : session?.id,
      prompt: keptPrompt(parts.serving().config, chat.prompt, decision),
      notes: { duel: note, encoder_failed: failed || undefined },
    },
  };
}

/** Logs a decision; it takes a moment, for which the call of the model should not wait. */
export function logDecision(recorder: Recorder, router: LiveRouter, decided: Decided): Decision {
  const event = decided.plan.explain(decided.details);
  router.recent.add(event);
  recorder.routed(event);
  return event;
}

function sessionOf(
  { name: router }: LiveRouter,
  { owner }: Caller,
  { messages, needs, inToolLoop }: Chat,
  { session: id }: Wishes,
): Session | undefined {
  if (id !== undefined) return { router, owner, id, isImplicit: false };
  if (!needs.tools && !inToolLoop) return undefined;
  return { router, owner, id: implicitId(messages), isImplicit: true };
}

/** Whether there may be two answers: the request's own word, the key's, the router's. */
function duelFor(
  router: LiveRouter,
  caller: Caller,
  { n, needs, inToolLoop }: Chat,
  wishes: Wishes,
): { duel: boolean | "auto"; note?: Reasons["duel"] } {
  const { config, cap } = router;
  const { on_request: onRequest, mode } = config.duels;
  const own = onRequest ? wishes.duel : undefined;
  const wish = own ?? caller.duels ?? mode;
  if (wish === false) return { duel: false };
  const isPossible = config.mode === "apply" && router.view.models.length > 1;
  if (!isPossible || n !== 1 || needs.tools || inToolLoop) {
    return { duel: false, note: "not_possible" };
  }
  if (own === true) return { duel: true, note: "asked" };
  return cap.allows ? { duel: wish, note: "auto" } : { duel: false, note: "capped" };
}

function keptPrompt({ store }: Config, text: string, decision: string): Uint8Array | undefined {
  const { prompts, key } = store;
  return prompts ? seal(text, decision, key === undefined ? undefined : readKey(key)) : undefined;
}
