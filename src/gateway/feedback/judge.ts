import type { Outcome } from "../../core/bandit/policy.ts";
import { invalidValue } from "../../core/errors/joust-error.ts";
import type { Random } from "../../core/random/random.ts";
import type { Decision } from "../../store/decision.ts";
import { DAY_MS } from "../../store/decision-id.ts";
import type { Hold } from "../access/dollar-limit.ts";
import type { Clock } from "../clock/clock.ts";
import type { DeliveredAnswer } from "../deliver/deliver.ts";
import { chat } from "../dialects/chat/chat.ts";
import type { Conversation, Dialect } from "../dialects/dialect.ts";
import { transcriptOf } from "../dialects/items/steps.ts";
import { DIRECT, type Recorder } from "../log/recorder.ts";
import type { Peers } from "../peers/peers.ts";
import { callModel } from "../providers/attempt.ts";
import { type ServedModel, UNDERCOUNT } from "../providers/served-model.ts";
import { tokensOfBytes } from "../providers/upstream/text-tokens.ts";
import { readAll } from "../providers/upstream/upstream.ts";
import { choose } from "../routing/choose.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { editMembers, type Members } from "../wire/json.ts";
import { ballotOf } from "./ballot.ts";
import { JudgeBudgets } from "./judge-budgets.ts";
import { judgeRequest, verdictIn, verdictOfOrders } from "./judge-prompt.ts";
import { traitsOfAnswers } from "./judge-traits.ts";
import { shadowId } from "./shadow-id.ts";
import { type CastParts, cast } from "./votes.ts";

export interface JudgeParts extends CastParts {
  /** The models that are served now. */
  readonly models: () => ReadonlyMap<string, ServedModel>;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly newSeed: () => number;
  readonly peers: Peers;
}

/** A request that was answered. */
export interface AnsweredRequest {
  readonly dialect: Dialect;
  readonly router: LiveRouter;
  readonly conversation: Conversation;
  /** Members of the request's body. */
  readonly members: Members;
  readonly decision: Decision;
}

/**
 * Two answers that were compared, in the order shown, and the id of the vote if it differs from that of the
 * decision.
 */
interface ComparedAnswers {
  readonly models: readonly [ServedModel, ServedModel];
  readonly texts: readonly [string, string];
  readonly id?: string;
}

/**
 * A model that votes on a share of the requests. On a duel it compares the answers that were shown. On a
 * single answer it has a second model answer the same request in the background, so that traffic without
 * voters teaches something too. If `judge.tools` is set, it also compares the next steps of two agents, of
 * which only the served one is carried out. Requests never wait for the judge.
 */
export class Judge {
  readonly #parts: JudgeParts;
  readonly #random: Random;
  #running = 0;
  readonly #budgets: JudgeBudgets;
  /** Days on which a comparison that can never fit the budget was last reported, by router. */
  readonly #told = new Map<string, number>();

  constructor(parts: JudgeParts, random: Random) {
    this.#parts = parts;
    this.#random = random;
    this.#budgets = new JudgeBudgets(parts.peers, parts.clock);
  }

  /** Whether the judge is to vote on this request. */
  wants({ config }: LiveRouter, { needs, n }: Conversation): boolean {
    const { judge } = config;
    if (!judge || (needs.tools && !judge.tools) || n !== 1 || this.#running >= MAX_RUNNING)
      return false;
    return this.#random.uniform() < judge.share;
  }

  /** Votes in the background if the answers have their texts. */
  consider(request: AnsweredRequest, [first, second]: readonly DeliveredAnswer[]): void {
    if (first?.text === undefined) return;
    if (request.decision.mode === "observe") {
      this.#inBackground(() => this.#judgeShadow(request, first.model, first.text!));
    } else if (!second) {
      this.#inBackground(() => this.#judgeSingle(request, first.model, first.text!));
    } else if (second.text !== undefined) {
      const models = [first.model, second.model] as const;
      this.#inBackground(() => this.#judgeDuel(request, models, [first.text!, second.text!]));
    }
  }

  async #judgeDuel(
    request: AnsweredRequest,
    models: readonly [ServedModel, ServedModel],
    texts: readonly [string, string],
  ): Promise<void> {
    const compared = await this.#compare(request, texts);
    if (compared) await this.#cast(request, { models, texts }, compared.outcome);
  }

  async #judgeSingle(request: AnsweredRequest, model: ServedModel, text: string): Promise<void> {
    const opponent = this.#opponent(request, model);
    const other = opponent && (await this.#answer(request, opponent));
    if (!other) return;
    const flip = this.#random.uniform() < 0.5;
    const texts = flip ? ([other.text, text] as const) : ([text, other.text] as const);
    const compared = await this.#compare(request, texts);
    if (!compared) return;
    const models = flip ? ([opponent, model] as const) : ([model, opponent] as const);
    // The second answer was not shown, so this is not a vote on the decision itself.
    const id = `${request.decision.id}-judge`;
    await this.#cast(request, { models, texts, id }, compared.outcome);
  }

  /**
   * In mode observe, compares the answer that was served with that of the model that the router would have
   * chosen: blind, in both orders, and within the budget of the day.
   */
  async #judgeShadow(request: AnsweredRequest, served: ServedModel, text: string): Promise<void> {
    const { decision, router, conversation } = request;
    const name = decision.reasons?.observed?.pair[0];
    const chosen = router.models.get(name ?? "");
    const judge = this.#parts.models().get(router.config.judge!.model);
    if (!chosen || !judge || chosen === served) return;
    const { promptTokens, answerTokens } = conversation.needs;
    const answer = chosen.mostCost(UNDERCOUNT * promptTokens, answerTokens);
    // The second answer is probably about as long as the first. Verdicts that would not fit are not worth an answer.
    const verdicts = this.#mostOfVerdicts(request, judge, [text, text]);
    const total = answer === undefined || verdicts === undefined ? undefined : answer + verdicts;
    const forAnswer = await this.#reserve(router, total);
    if (!forAnswer) return;
    const other = await settled(forAnswer, answer, async () => {
      const got = await this.#answer(request, chosen);
      return { value: got.text, cost: got.cost };
    });
    const texts = [other, text] as const;
    const most = this.#mostOfVerdicts(request, judge, texts);
    const forVerdicts = await this.#reserve(router, most);
    if (!forVerdicts) return;
    const outcome = await settled(forVerdicts, most, async () => {
      const forwards = await this.#compare(request, texts);
      const backwards = await this.#compare(request, [text, other], 1);
      const cost = (forwards?.cost ?? 0) + (backwards?.cost ?? 0);
      if (!forwards || !backwards) return { value: undefined, cost };
      return { value: verdictOfOrders(forwards.outcome, backwards.outcome), cost };
    });
    if (!outcome) return;
    const models = [chosen, served] as const;
    await this.#cast(request, { models, texts, id: shadowId(decision.id) }, outcome);
  }

  /** The most that the verdicts on two answers in both orders can cost. A token has at least one byte. */
  #mostOfVerdicts(
    request: AnsweredRequest,
    judge: ServedModel,
    texts: readonly [string, string],
  ): number | undefined {
    const most = judge.mostCost(verdictBody(request, texts).length, VERDICT_TOKENS);
    return most && 2 * most;
  }

  /** Sets aside the most that a part of a shadow comparison can cost. With a budget, a comparison of unknown cost is not made. */
  async #reserve({ name, config }: LiveRouter, most: number | undefined) {
    const { budget } = config.judge!;
    if (budget === undefined) return { settle: () => {} };
    if (most !== undefined && most <= budget) return this.#budgets.reserve(name, budget, most);
    const day = Math.floor(this.#parts.clock.date() / DAY_MS);
    if (this.#told.get(name) !== day) {
      this.#parts.logger.warn(
        { router: name, dollars: most, budget },
        most === undefined
          ? "a comparison with a judge.budget was left out, because a model has no price: set models.NAME.price"
          : "a comparison was left out, because it may cost more than judge.budget allows in a day: raise the budget, or set models.NAME.max_answer",
      );
    }
    this.#told.set(name, day);
    return undefined;
  }

  async #cast(
    { router, decision, conversation }: AnsweredRequest,
    { models, texts, id = decision.id }: ComparedAnswers,
    outcome: Outcome,
  ): Promise<void> {
    const { model, weight } = router.config.judge!;
    const judge = this.#parts.models().get(model)!;
    const ballot = ballotOf(
      decision,
      models.map(({ name }) => name),
    );
    const facts = {
      at: this.#parts.clock.date(),
      // A judge may be better or worse at steps of agents than at answers.
      voter: `judge:${model}${conversation.needs.tools ? ":tools" : ""}`,
      source: "judge",
      weight,
      traits: traitsOfAnswers(judge.spec, [models[0].spec, models[1].spec], texts),
    } as const;
    await cast(this.#parts, { ...ballot, id, x: ballot.x! }, { outcome }, facts);
  }

  /** The model that the policy would show beside the one that has answered. */
  #opponent({ router, conversation, decision }: AnsweredRequest, model: ServedModel) {
    const { view } = router;
    const { pair } = choose(view, {
      id: decision.id,
      x: decision.x,
      needs: conversation.needs,
      quotes: new Map(
        decision.costs?.map((expected, i) => [decision.candidates[i]!, { expected }]),
      ),
      allowed: decision.candidates,
      tradeoff: router.config.cost_quality_tradeoff,
      duel: true,
      seed: this.#parts.newSeed(),
    });
    return pair.map((k) => view.models[k]!).find((other) => other.name !== model.name);
  }

  /** A second answer, which is not shown. Its cost is logged in slot 1 and charged to no key. */
  async #answer({ dialect, members, decision, conversation }: AnsweredRequest, model: ServedModel) {
    const { router, id } = decision;
    const once = editMembers(members, { set: { stream: "false" }, drop: ["stream_options"] });
    const slot = { router, decision: id, slot: 1, forJudge: true };
    const { promptTokens } = conversation.needs;
    return this.#call(model, dialect, once, { ...slot, promptTokens });
  }

  async #compare(
    request: AnsweredRequest,
    texts: readonly [string, string],
    slot = 0,
  ): Promise<{ readonly outcome: Outcome; readonly cost: number } | undefined> {
    const { router, decision } = request;
    const model = this.#parts.models().get(router.config.judge!.model);
    if (!model) return undefined;
    const body = verdictBody(request, texts);
    // Each verdict of a decision has a slot of its own, because the log has one answer per slot.
    const own = { router: DIRECT, decision: `${decision.id}-judge`, slot };
    const promptTokens = tokensOfBytes(body.length);
    const { text, cost } = await this.#call(model, chat, body, { ...own, promptTokens });
    const outcome = verdictIn(text);
    if (outcome) return { outcome, cost };
    throw invalidValue(`${model.name} named no winner`, "use a model that follows instructions");
  }

  async #call(
    model: ServedModel,
    { endpoint, textOf }: Dialect,
    body: Uint8Array,
    slot: Omit<Parameters<Recorder["answered"]>[0], "owner">,
  ): Promise<{ readonly text: string; readonly cost: number }> {
    const request = { endpoint, body, stream: false, model: model.name };
    const answer = await callModel(model, request, AbortSignal.timeout(CALL_MS));
    const text = textOf(await readAll(answer));
    const own = { ...slot, owner: undefined };
    return { text, cost: this.#parts.recorder.answered(own, model, await answer.end, []) };
  }

  #inBackground(work: () => Promise<void>): void {
    this.#running++;
    work()
      .catch((error: unknown) => {
        this.#parts.metrics.votes.inc({ source: "judge", status: "failed" });
        this.#parts.logger.warn({ err: error }, "the judge did not vote");
      })
      .finally(() => {
        this.#running--;
      });
  }
}

/** The request to the judge to compare two answers. */
function verdictBody(
  { router, conversation, dialect, members }: AnsweredRequest,
  texts: readonly [string, string],
): Buffer {
  const isStep = conversation.needs.tools;
  const prompt = isStep ? transcriptOf(dialect, editMembers(members, {})) : conversation.prompt;
  // Without a budget, a judge may think for as long as it likes.
  const maxTokens = router.config.judge!.budget === undefined ? undefined : VERDICT_TOKENS;
  return Buffer.from(JSON.stringify(judgeRequest(prompt, texts, { isStep, maxTokens })));
}

/** Settles a reservation with the cost of some work. Work that fails counts as `most`. */
async function settled<T>(
  hold: Pick<Hold, "settle">,
  most = 0,
  work: () => Promise<{ readonly value: T; readonly cost: number }>,
): Promise<T> {
  let cost = most;
  try {
    const done = await work();
    cost = done.cost;
    return done.value;
  } finally {
    hold.settle(cost);
  }
}

const MAX_RUNNING = 8;
const CALL_MS = 120_000;
/** Most tokens of a verdict if there is a budget. Judges that think need as many. */
const VERDICT_TOKENS = 2000;
