import type { Explanation, Decision as ShownDecision } from "../../api/decision.ts";
import { type Decision, isDuel } from "../../store/decision.ts";
import { isHidden } from "../../store/hidden.ts";
import type { DecisionRecord } from "../../store/store.ts";
import { inWords } from "../routing/explain.ts";
import type { LiveRouter } from "../routing/live-router.ts";

/** A decision as GET /v1/decisions shows it. The models of a duel are hidden until a person has voted. */
export function decisionView(record: DecisionRecord): ShownDecision {
  const { decision, answers, votes } = record;
  const common = {
    object: "decision" as const,
    id: decision.id,
    at: new Date(decision.at).toISOString(),
    router: decision.router,
    mode: decision.mode,
    ...(decision.session !== undefined && { session_id: decision.session }),
    ...(decision.owner !== undefined && { key: decision.owner }),
    duel: isDuel(decision),
    posterior_version: decision.version,
    votes: votes.map(({ verdict, source, weight, at, position, metric }) => ({
      ...verdict,
      source,
      weight,
      at: new Date(at).toISOString(),
      position,
      ...(metric && { metric }),
    })),
  };
  if (isHidden(record)) {
    const answered = answers.map(({ slot, status }) => ({ slot, status }));
    return { ...common, hidden: "the models are shown after the vote", answers: answered };
  }
  return {
    ...common,
    models: shownModels(record),
    ...explanation(decision),
    answers: answers.map(({ slot, model, status, at, ...rest }) => ({
      slot,
      model,
      status,
      at: new Date(at).toISOString(),
      input_tokens: rest.inputTokens,
      output_tokens: rest.outputTokens,
      cost: rest.cost,
      latency_ms: rest.latencyMs,
      first_byte_ms: rest.firstByteMs,
      fallbacks: rest.fallbacks,
      error: rest.error,
    })),
  };
}

/** Models whose answers were shown, in their order; after a fallback, the model that answered. */
export function shownModels({ decision, answers }: DecisionRecord): string[] {
  return decision.pair
    .slice(0, isDuel(decision) ? 2 : 1)
    .map((model, slot) => answers.find((answer) => answer.slot === slot)?.model ?? model);
}

/** Numbers and sentences that explain a decision. */
export function explanation(decision: Omit<Decision, "x">): Explanation {
  const { candidates, values, costs, propensity, seed, lambda, pair, omitted } = decision;
  const reasons = decision.reasons ?? {};
  const { uncertainty, win, runner_up, duel, no_duel: _, tokens, ...rest } = reasons;
  return {
    chosen: [...new Set(pair)],
    scores: candidates.map((model, i) => ({
      model,
      value: values?.[i],
      uncertainty: uncertainty?.[i],
      cost: costs?.[i],
      // A model without a price has the mean cost of the others, which is based on no tokens.
      ...(tokens?.prompt[i] && {
        cost_basis: {
          prompt_tokens: tokens.prompt[i],
          cached_tokens: tokens.cached[i]!,
          output_tokens: tokens.output[i]!,
        },
      }),
      net: values && values[i]! - lambda * (costs?.[i] ?? 0),
    })),
    ...(omitted !== undefined && { omitted }),
    runner_up,
    win_probability: win,
    propensity,
    seed,
    lambda,
    ...rest,
    ...(duel !== undefined && { duel_reason: duel }),
    reasons: inWords(decision),
  };
}

/**
 * Win probability of the same two models on the query `x` by the current posterior, which
 * has learned from the vote.
 */
export function presentView(
  router: LiveRouter | undefined,
  record: DecisionRecord,
  x: Float64Array | undefined,
): Pick<ShownDecision, "now"> {
  const { decision } = record;
  const [a, b] = decision.pair;
  if (!router || !x || isHidden(record)) return {};
  const { view } = router;
  if (decision.encoder !== view.encoder || x.length !== view.pool.centroids[0]!.length) return {};
  const { runner_up: runnerUp } = decision.reasons ?? {};
  const rival = a === b ? runnerUp : b;
  const [first, second] = [a, rival].map((name) => view.pool.models.indexOf(name ?? ""));
  if (first! < 0 || second! < 0) return {};
  const estimate = view.router.policy.estimate?.(view.membership(x));
  if (!estimate) return {};
  const win = estimate.beats(first!, second!);
  return { now: { posterior_version: view.version, win_probability: win } };
}
