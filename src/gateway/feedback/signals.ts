import { dot } from "../../core/linalg/linalg.ts";
import type { Decision } from "../../store/decision.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import type { DeliveredAnswer } from "../deliver/deliver.ts";
import type { Conversation, Prefix } from "../dialects/dialect.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { prefixesIn } from "../routing/prefixes.ts";
import type { Members } from "../wire/json.ts";
import { ballotOf, type CompleteBallot } from "./ballot.ts";
import { fitsSchema } from "./output-schema.ts";
import { type CastParts, cast } from "./votes.ts";

type SignalName = keyof Config["routers"][string]["signals"];

/** A request that was answered. */
export interface SignalledRequest {
  readonly router: LiveRouter;
  readonly conversation: Conversation;
  readonly members: Members;
  readonly decision: Decision;
}

/** The last answer of a conversation, until the next request of the conversation comes. */
interface Waiting {
  readonly ballot: CompleteBallot;
  readonly at: number;
  /** Hashes of the conversation up to the last message, and up to the one before it. */
  readonly end: string;
  readonly parent: string | undefined;
}

/**
 * Implicit signals: what the next request of a conversation, or the answer itself, says about an answer.
 * A signal is a dislike. Its learned weight is that of its kind of voters (core/bandit/kind-beliefs.ts).
 *
 * Models that answer more often get more dislikes, so dislikes alone say nothing. For every dislike,
 * the next answer that could have had the same signal, but did not, is a like. Such a sample of
 * cases and controls changes only the level of the likes, which is learned, and not how they differ
 * between models (Prentice and Pyke, 1979).
 *
 * The memory holds hashes and embeddings, never texts, for half an hour at most. An answer gives at most
 * one vote, so that people's votes on it still count.
 */
export class Signals {
  readonly #parts: CastParts & { readonly clock: Clock };
  /** Answers by the hash of their conversation, the oldest first. */
  readonly #byEnd = new Map<string, Waiting>();
  /** Answers by the hash of their conversation without its last message. */
  readonly #byParent = new Map<string, Waiting>();
  /** Likes that are still to be cast, by router and signal. */
  readonly #owed = new Map<string, number>();

  constructor(parts: CastParts & { readonly clock: Clock }) {
    this.#parts = parts;
  }

  /** Whether the text of the answer is needed. */
  needsText({ config }: LiveRouter, { needs, n }: Conversation): boolean {
    const { no_answer, schema_failed } = config.signals;
    return n === 1 && (no_answer || (schema_failed && needs.jsonSchema));
  }

  /** Learns from an answered request: about the answer before it, and about its own answer. */
  consider(request: SignalledRequest, answers: readonly DeliveredAnswer[]): void {
    const { router, decision, conversation } = request;
    if (!Object.values(router.config.signals).some(Boolean) || decision.mode !== "apply") return;
    const scope = `${router.name}\n${decision.owner ?? ""}`;
    const prefixes = prefixesIn(scope, conversation.history.prefixes);
    this.#aboutEarlier(request, prefixes);
    const [answer, second] = answers;
    if (!answer?.end || second || answer.end.error?.code === "cancelled") return;
    const ballot = { ...ballotOf(decision, [answer.model.name]), x: decision.x };
    if (this.#aboutOwn(request, ballot, answer)) return;
    const [end, parent] = [prefixes.at(-1)?.hash, prefixes.at(-2)];
    if (end === undefined || answer.end.error) return;
    this.#remember({
      ballot,
      at: this.#parts.clock.date(),
      end,
      // Many conversations begin with the same instructions.
      parent: parent && !parent.isHead ? parent.hash : undefined,
    });
  }

  /** Finds the answer that this request follows, and what the request says about it. */
  #aboutEarlier({ router, conversation, decision }: SignalledRequest, prefixes: readonly Prefix[]) {
    const { inToolLoop } = conversation;
    const same = this.#take(this.#byEnd.get(prefixes.at(-1)?.hash ?? ""));
    if (same) return this.#cast(router, same, "regenerated");
    const parent = prefixes.at(-2)?.hash ?? "";
    const sibling = inToolLoop ? undefined : this.#take(this.#byParent.get(parent));
    if (sibling) return this.#cast(router, sibling, "edited");
    const before = prefixes
      .slice(-LOOK_BACK, -1)
      .findLast(({ hash, isHead }) => !isHead && this.#byEnd.has(hash));
    const waiting = before && this.#take(this.#byEnd.get(before.hash));
    if (!waiting) return;
    if (inToolLoop) {
      if (conversation.hasToolError) this.#cast(router, waiting, "tool_failed");
      else this.#control(router, waiting, ["tool_failed"]);
    } else if (isLong(conversation) && cosine(waiting.ballot.x, decision.x) > REPHRASED) {
      this.#cast(router, waiting, "rephrased");
    } else this.#control(router, waiting, ["regenerated", "edited", "rephrased"]);
  }

  /** Looks for signals in the answer itself. Returns whether a vote was cast. */
  #aboutOwn(
    { router, conversation, members }: SignalledRequest,
    ballot: CompleteBallot,
    { end, text }: DeliveredAnswer,
  ): boolean {
    const { no_answer, schema_failed } = router.config.signals;
    const waiting = { ballot };
    const { needs } = conversation;
    // An answer that only calls tools has no text.
    const isEmpty = text !== undefined && text.trim() === "" && !needs.tools;
    if (no_answer && (end!.error || isEmpty)) return this.#cast(router, waiting, "no_answer");
    if (schema_failed && needs.jsonSchema && text !== undefined && text !== "") {
      if (!fitsSchema(members, text)) return this.#cast(router, waiting, "schema_failed");
      if (this.#control(router, waiting, ["schema_failed"])) return true;
    }
    return this.#control(router, waiting, ["no_answer"]);
  }

  /** Casts a dislike if the signal is switched on. */
  #cast(router: LiveRouter, { ballot }: Pick<Waiting, "ballot">, name: SignalName): boolean {
    if (!router.config.signals[name]) return false;
    const key = `${router.name} ${name}`;
    this.#owed.set(key, Math.min(MOST_OWED, (this.#owed.get(key) ?? 0) + 1));
    this.#vote(ballot, name, -1);
    return true;
  }

  /** Casts a like for one of the signals that the answer could have had, if one is owed. */
  #control(
    router: LiveRouter,
    { ballot }: Pick<Waiting, "ballot">,
    names: readonly SignalName[],
  ): boolean {
    const most = names
      .map((name) => ({ name, key: `${router.name} ${name}` }))
      .toSorted((a, b) => (this.#owed.get(b.key) ?? 0) - (this.#owed.get(a.key) ?? 0))[0]!;
    const owed = this.#owed.get(most.key) ?? 0;
    if (owed === 0 || !router.config.signals[most.name]) return false;
    this.#owed.set(most.key, owed - 1);
    this.#vote(ballot, most.name, 1);
    return true;
  }

  #vote(ballot: CompleteBallot, name: SignalName, rating: number): void {
    const facts = {
      at: this.#parts.clock.date(),
      voter: `signal:${name}`,
      source: "signal",
      weight: 1,
    } as const;
    cast(this.#parts, ballot, { rating, slot: 0 }, facts).catch((error: unknown) => {
      this.#parts.logger.warn({ err: error, signal: name }, "a signal was not stored");
    });
  }

  #remember(waiting: Waiting): void {
    this.#take(this.#byEnd.get(waiting.end));
    this.#byEnd.set(waiting.end, waiting);
    if (waiting.parent !== undefined) this.#byParent.set(waiting.parent, waiting);
    for (const oldest of this.#byEnd.values()) {
      if (this.#byEnd.size <= MOST_WAITING && !this.#isOld(oldest)) break;
      this.#take(oldest);
    }
  }

  /** Forgets an answer. Returns it unless it is too old. */
  #take(waiting: Waiting | undefined): Waiting | undefined {
    if (!waiting) return undefined;
    const { end, parent } = waiting;
    if (this.#byEnd.get(end) === waiting) this.#byEnd.delete(end);
    if (parent !== undefined && this.#byParent.get(parent) === waiting) {
      this.#byParent.delete(parent);
    }
    return this.#isOld(waiting) ? undefined : waiting;
  }

  #isOld({ at }: Waiting): boolean {
    return this.#parts.clock.date() - at > WAITING_MS;
  }
}

/** Whether the prompt is the last message alone. To a very short one, routing adds the message before it. */
function isLong({ prompt }: Conversation): boolean {
  return SIX_WORDS.test(prompt.slice(prompt.lastIndexOf("\n") + 1));
}

const SIX_WORDS = /(?:\S+\s+){5}\S/;

function cosine(a: Float64Array, b: Float64Array): number {
  const norms = Math.sqrt(dot(a, a) * dot(b, b));
  return norms > 0 ? dot(a, b) / norms : 0;
}

const MOST_WAITING = 5000;
const WAITING_MS = 30 * 60_000;
const MOST_OWED = 100;
/** Messages after an answer's prompt among which the next prompt is expected: the answer, tool calls and their results. */
const LOOK_BACK = 32;
/** Cosine from which a prompt counts as the previous one in other words. */
const REPHRASED = 0.8;
