import type { Decision, Reasons } from "../../store/decision.ts";
import { newDecisionId, sampleNumber } from "../../store/decision-id.ts";
import { readKey, seal } from "../../store/seal.ts";
import type { Caller } from "../access/access.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import type { Conversation } from "../dialects/dialect.ts";
import type { Recorder } from "../log/recorder.ts";
import type { SecondAnswers } from "../log/second-answers.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { Stopwatch } from "../telemetry/metrics.ts";
import type {
  AnswerPrices,
  PaidAnswer,
  PricedConversation,
  PriceQuote,
  SettledPrices,
} from "./answer-prices.ts";
import { type ChoiceQuery, choose, netValue, type RouterView } from "./choose.ts";
import type { DuelCap } from "./duel-cap.ts";
import { explain } from "./explain.ts";
import type { LiveRouter } from "./live-router.ts";
import { prefixesIn } from "./prefixes.ts";
import type { Serving } from "./serving.ts";
import { type Session, type Sessions, sessionOf } from "./sessions.ts";

/**
 * A decision whose models are known while its explanation is not computed yet. The models are
 * called first, so that no request waits for the explanation.
 */
export interface PendingDecision {
  readonly id: string;
  readonly router: LiveRouter;
  /** Time of the decision, in milliseconds since 1970. */
  readonly at: number;
  /** Models to call, in the order shown; twice the same model unless it is a duel. */
  readonly pair: readonly [ServedModel, ServedModel];
  readonly isDuel: boolean;
  /** Whether the client of this duel gets the first answer at once and may fetch the second later. */
  readonly isLater: boolean;
  /** Reason why there is a duel, or why there is none although one was requested. */
  readonly duel: Reasons["duel"];
  /** Sentence that says why a requested duel is not possible. */
  readonly because: string | undefined;
  readonly session: Session | undefined;
  /** Key of the conversation, by which it stays with one deployment of a model. */
  readonly affinity: string | undefined;
  /** Embedding of the prompt. */
  readonly x: Float64Array;
  /** False if the decision is not part of the sample: it is counted, but not stored. */
  readonly isKept: boolean;
  /** Counts the decision against the router's budget and its share of duels. Called once it is sure to be carried out. */
  readonly charge: () => void;
  /** Learns the prices of the answers. Returns what the tallies add. */
  readonly settle: (answers: readonly PaidAnswer[]) => SettledPrices;
  /** The same for the second answer of a duel that came later. */
  readonly settleSecond: (answer: PaidAnswer) => SettledPrices;
  /** Other candidates, the best first. None if the operator has fixed the model. */
  readonly others: () => readonly ServedModel[];
  readonly complete: () => Decision;
}

export interface DecideParts {
  readonly serving: () => Serving;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly newSeed: () => number;
}

/** Second answers of duels that clients fetch later. */
type LaterAnswers = Pick<SecondAnswers, "hasRoom">;

/**
 * Decides which model, or which two, answer a request. Without `laterAnswers` there is a duel only if the client
 * requests it.
 */
export async function decide(
  { serving, sessions, clock, newSeed }: DecideParts,
  caller: Caller,
  router: LiveRouter,
  conversation: Conversation,
  stopwatch?: Stopwatch,
  laterAnswers?: LaterAnswers,
): Promise<PendingDecision> {
  const { options, inToolLoop, isRunning } = conversation;
  const mustBePriced =
    caller.budget !== undefined && serving().config.server.unpriced !== "estimate";
  const needs = mustBePriced ? { ...conversation.needs, priced: true } : conversation.needs;
  const session = sessionOf(router.name, caller.owner, conversation);
  const prefixes = prefixesIn(caller.owner ?? "", conversation.history.prefixes);
  const encoding = router.encode(conversation.prompt);
  const noted = session && (await sessions.modelOf(session, isRunning));
  // Without a session id, the conversation is recognised by its first messages.
  const isNamed = session?.isImplicit === false;
  const found = isRunning && !isNamed ? router.prices.read.find(prefixes)?.model : undefined;
  const before = isNamed ? noted : (found ?? (inToolLoop ? noted : undefined));
  const { x, failed } = encoding instanceof Promise ? await encoding : encoding;
  stopwatch?.stage("encode");
  const { view } = router;
  // A conversation keeps its model, or the guard's, unless the client requests a duel.
  const isFree = before === undefined && view.guard === undefined;
  const later = isFree ? laterAnswers : undefined;
  const planned = duelFor(view, router.cap, caller, conversation, later);
  const at = clock.date();
  const priced: PricedConversation = {
    prefixes,
    w: view.membership(x),
    needs,
    isRunning,
    session: isNamed ? session.id : undefined,
    at,
  };
  const quotes = quotesOf(router.prices, view.models, priced);
  const query: ChoiceQuery = {
    id: newDecisionId(at),
    x,
    needs,
    quotes,
    allowed: options.allowed_models ?? undefined,
    permitted: caller.models,
    tradeoff: options.cost_quality_tradeoff ?? view.config.cost_quality_tradeoff,
    duel: planned.wanted,
    kept: before === undefined ? undefined : { model: before, firmly: inToolLoop },
    seed: newSeed(),
  };
  const choice = choose(view, query);
  const { pair } = choice;
  const isDuel = pair[0] !== pair[1];
  const duel =
    planned.reason === "requested" && !isDuel
      ? notPossible(singleCandidate(view.models[pair[0]]!.name, choice.candidates.resting))
      : planned;
  const isLater = isDuel && duel.reason === "later";
  stopwatch?.stage("decide");
  // Duels, explored choices and decisions with an id of the client are always stored. A choice is
  // explored if the policy makes it rarely.
  const isExplored = choice.isPolicyChoice === true && choice.propensity < 0.5;
  const isAlwaysKept = isDuel || isExplored || options.id != null;
  const sample = isAlwaysKept ? 1 : serving().config.store.sample;
  return {
    id: query.id,
    router,
    at,
    pair: [view.models[pair[0]]!, view.models[pair[1]]!],
    isDuel,
    isLater,
    duel: duel.reason,
    because: duel.because,
    session,
    // The instructions are skipped, because many conversations share them.
    affinity: session?.id ?? prefixes.find(({ isHead }) => !isHead)?.hash,
    x,
    isKept: sample === 1 || sampleNumber(query.id) < sample,
    charge: () => {
      router.cap.routed(isDuel && duel.reason !== "requested");
      // In mode observe, the budget limits the choices that are logged. Mode bypass makes none.
      if (view.config.mode === "bypass") return;
      view.router.charge(choice.observed ?? pair, choice.costs?.all);
    },
    settle: (answers) => router.prices.settle(priced, view.models, quotes, answers),
    settleSecond: (answer) => router.prices.settleSecond(priced, view.models, quotes, answer),
    others: () => {
      if (view.config.mode !== "apply") return [];
      return (
        choice.candidates.indices
          // If the first model fails, the second one of a later duel may answer in its place.
          .filter((k) => (isLater ? k !== pair[0] : !pair.includes(k)))
          .toSorted((a, b) => netValue(choice, b) - netValue(choice, a))
          .map((k) => view.models[k]!)
      );
    },
    complete: () =>
      explain(view, query, choice, {
        at,
        w: priced.w,
        owner: caller.owner,
        session: session?.isImplicit ? undefined : session?.id,
        prompt: sealedPrompt(serving().config, conversation.prompt, query.id),
        sample: sample === 1 ? undefined : sample,
        reasons: { duel: duel.reason, no_duel: duel.because, encoder_failed: failed || undefined },
      }),
  };
}

function quotesOf(
  prices: AnswerPrices,
  models: RouterView["models"],
  conversation: PricedConversation,
): Map<string, PriceQuote> {
  const quotes = new Map<string, PriceQuote>();
  for (const model of models) {
    const quote = model && prices.quote(model, conversation);
    if (quote) quotes.set(model.name, quote);
  }
  return quotes;
}

/** Completes a decision, unless `decision` is complete already, and logs it. */
export function logDecision(
  recorder: Pick<Recorder, "decided">,
  { router, complete, isKept }: PendingDecision,
  decision = complete(),
): Decision {
  router.recent.add(decision);
  recorder.decided(decision, isKept);
  return decision;
}

/**
 * Whether there are two answers. If the client requests a duel, it gets both. Otherwise the key or the
 * router may want one, whose second answer the client fetches later.
 */
function duelFor(
  view: RouterView,
  cap: DuelCap,
  caller: Caller,
  conversation: Conversation,
  laterAnswers: LaterAnswers | undefined,
): PlannedDuel {
  const { config, name } = view;
  const { needs, options } = conversation;
  const { on_request: onRequest, mode } = config.duels;
  const obstacle = obstacleTo(view, conversation);
  const isPossible = obstacle === undefined;
  if (options.duel === false) return { wanted: false };
  if (onRequest && options.duel != null) {
    if (!isPossible) return notPossible(obstacle);
    if (options.duel === true) return { wanted: true, reason: "requested" };
    return cap.allows ? { wanted: "auto", reason: "auto" } : { wanted: false, reason: "capped" };
  }
  const wanted = laterAnswers ? (caller.duels ?? mode) : false;
  // An upstream that keeps the state of a conversation must not get a second request for it.
  if (wanted === false || !isPossible || needs.native) {
    if (options.duel !== true) return { wanted: false };
    if (wanted === false) {
      return notPossible(`routers.${name}.duels.on_request is false in the configuration`);
    }
    return notPossible(obstacle ?? `${needs.native!.what} runs at the provider of one model`);
  }
  const isAllowed = cap.allows && laterAnswers?.hasRoom === true;
  return isAllowed ? { wanted, reason: "later" } : { wanted: false, reason: "capped" };
}

/** Whether there should be a duel, and why or why not. */
interface PlannedDuel {
  readonly wanted: boolean | "auto";
  readonly reason?: Reasons["duel"];
  /** Sentence that says why a requested duel is not possible. */
  readonly because?: string;
}

function notPossible(obstacle: string): PlannedDuel {
  return { wanted: false, reason: "not_possible", because: `no duel: ${obstacle}` };
}

/** Says why only one model can answer. `resting` are other models that could. */
function singleCandidate(model: string, resting: readonly string[]): string {
  const only = `only ${model} can serve the request`;
  if (resting.length === 0) return only;
  const rest = resting.map((other) => `${other} has failed often and is not called for now`);
  return `${only} at present: ${rest.join("; ")}`;
}

/** The property of a request or of its router that makes a duel impossible. */
function obstacleTo(
  { config, models, name }: RouterView,
  { n, needs, inToolLoop, providerSpecific }: Conversation,
): string | undefined {
  if (config.mode !== "apply") return `the mode of router ${name} is ${config.mode}, not apply`;
  if (models.length < 2) return `router ${name} has a single model`;
  if (n !== 1) return `the request has n: ${n}, and a duel is two answers of different models`;
  if (needs.tools) return "the request has tools, and only one model can call them";
  if (inToolLoop)
    return "the request ends with the result of a tool, and the model that called it answers";
  if (providerSpecific !== undefined)
    return `the request has ${providerSpecific}, which only some providers support, so it would reveal which model answered`;
  return undefined;
}

/** The prompt for the log, encrypted if there is a key; undefined if prompts are not stored. */
function sealedPrompt({ store }: Config, text: string, id: string): Uint8Array | undefined {
  const { prompts, key } = store;
  return prompts ? seal(text, id, key === undefined ? undefined : readKey(key)) : undefined;
}
