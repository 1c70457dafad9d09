import type { Outcome } from "../../core/bandit/policy.ts";
import { invalidValue } from "../../core/errors/joust-error.ts";
import type { Random } from "../../core/random/random.ts";
import type { Decision } from "../../store/decision.ts";
import type { Voted } from "../../store/events.ts";
import type { Clock } from "../clock/clock.ts";
import { whole } from "../deliver/deliver.ts";
import { textOfWhole } from "../dialects/chat/answer-text.ts";
import type { Chat } from "../dialects/chat/request.ts";
import { DIRECT, type Recorder } from "../log/recorder.ts";
import { callModel } from "../providers/attempt.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { plan } from "../routing/plan.ts";
import type { Serving } from "../routing/serving.ts";
import { editObject } from "../wire/json-edit.ts";
import { type BallotBox, cast } from "./feedback.ts";
import { judgeRequest, verdictIn } from "./judge-prompt.ts";

interface JudgeParts extends BallotBox {
  readonly serving: () => Serving;
  readonly recorder: Recorder;
  readonly clock: Clock;
  newSeed(): number;
}

/** A routed request that was answered, as far as a judge needs it. */
export interface Case {
  readonly router: LiveRouter;
  readonly chat: Chat;
  readonly body: Uint8Array;
  readonly decision: Decision;
}

/**
 * A model as one more voter, on a share of the requests. Of a duel it sees what
 * the person saw. Of a single answer a second model is asked in the background,
 * so that also traffic that nobody votes on teaches something. It never delays
 * an answer, and a judge that fails is one that did not vote.
 */
export class Judge {
  readonly #parts: JudgeParts;
  readonly #random: Random;
  #underWay = 0;

  constructor(parts: JudgeParts, random: Random) {
    this.#parts = parts;
    this.#random = random;
  }

  /** Whether this request is one of the share. */
  wants({ config }: LiveRouter, { needs, n }: Chat): boolean {
    const { judge } = config;
    if (!judge || needs.tools || n !== 1 || this.#underWay >= MOST_UNDER_WAY) return false;
    return this.#random.uniform() < judge.share;
  }

  /** A duel that was shown. */
  onDuel(matter: Case, answers: readonly [string, string]): void {
    this.#inBackground(async () => {
      const outcome = await this.#ask(matter, answers);
      if (!outcome) return;
      const { model, weight } = matter.router.config.judge!;
      const { id: decision } = matter.decision;
      await cast(this.#parts, {
        kind: "vote",
        at: this.#parts.clock.date(),
        decision,
        voter: `judge:${model}`,
        verdict: { outcome },
        source: "judge",
        weight,
      });
    });
  }

  /** One answer: another model is asked the same, for the judge alone. */
  onSingle(matter: Case, model: ServedModel, answer: string): void {
    this.#inBackground(async () => {
      const other = this.#opponent(matter, model);
      const second = other && (await this.#shadow(matter, other));
      if (!second) return;
      const flip = this.#random.uniform() < 0.5;
      const outcome = await this.#ask(matter, flip ? [second, answer] : [answer, second]);
      if (!outcome) return;
      const models = flip ? [other.name, model.name] : [model.name, other.name];
      await this.#parts.store.append([voteOf(matter, models, outcome, this.#parts.clock.date())]);
      this.#parts.metrics.votes.inc({ source: "judge", status: "logged" });
    });
  }

  /** Whom the policy would like to see beside the one that has answered. */
  #opponent({ router, chat, decision }: Case, model: ServedModel) {
    const { pair } = plan(router.view, {
      decision: decision.id,
      x: decision.x,
      needs: chat.needs,
      allowed: decision.candidates,
      tradeoff: router.config.cost_quality_tradeoff,
      duel: true,
      seed: this.#parts.newSeed(),
    });
    return pair.find((other) => other.name !== model.name);
  }

  async #shadow({ body, decision: { router, id: decision }, chat }: Case, model: ServedModel) {
    const once = editObject(body, { set: { stream: "false" }, drop: ["stream_options"] });
    // Beside the answer that was shown: so its cost is counted, as the operator's.
    return this.#call(model, once, { router, decision, slot: 1 }, chat.needs.promptTokens);
  }

  async #ask(
    { router, chat, decision }: Case,
    answers: readonly [string, string],
  ): Promise<Outcome | undefined> {
    const model = this.#parts.serving().models.get(router.config.judge!.model);
    if (!model) return undefined;
    const body = Buffer.from(JSON.stringify(judgeRequest(chat.prompt, answers)));
    const asked = { router: DIRECT, decision: `${decision.id}-judge`, slot: 0 };
    const reply = await this.#call(model, body, asked, body.length / 4);
    const outcome = verdictIn(reply);
    if (outcome) return outcome;
    throw invalidValue(`${model.name} named no winner`, "take a model that does as it is told");
  }

  async #call(
    model: ServedModel,
    body: Uint8Array,
    asked: { readonly router: string; readonly decision: string; readonly slot: number },
    promptTokens: number,
  ): Promise<string> {
    const signal = AbortSignal.timeout(CALL_MS);
    const errand = { endpoint: "chat/completions", body, stream: false, signal } as const;
    const answer = await callModel(model, errand);
    const text = textOfWhole(await whole(answer));
    this.#parts.recorder.answered(
      { ...asked, owner: undefined, promptTokens },
      model,
      await answer.end,
      [],
    );
    return text;
  }

  #inBackground(work: () => Promise<void>): void {
    this.#underWay++;
    work()
      .catch((error: unknown) => {
        this.#parts.metrics.votes.inc({ source: "judge", status: "failed" });
        this.#parts.logger.warn({ err: error }, "the judge did not vote");
      })
      .finally(() => {
        this.#underWay--;
      });
  }
}

const MOST_UNDER_WAY = 8;
const CALL_MS = 120_000;

/** Complete in itself: the second answer was never shown, so it is no part of the decision. */
function voteOf(
  { router, decision }: Case,
  models: readonly string[],
  outcome: Outcome,
  at: number,
): Voted {
  const { model, weight } = router.config.judge!;
  const { candidates, values } = decision;
  const known = models.map((name) => values?.[candidates.indexOf(name)]);
  return {
    kind: "voted",
    router: decision.router,
    at,
    decision: `${decision.id}-judge`,
    voter: `judge:${model}`,
    verdict: { outcome },
    source: "judge",
    weight,
    encoder: decision.encoder,
    x: decision.x,
    models,
    ...(known.every((value) => value !== undefined) && { values: known }),
  };
}
