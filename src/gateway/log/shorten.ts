import { type Decision, isDuel } from "../../store/decision.ts";
import { isStoredInFull } from "../../store/decision-id.ts";
import { MOST_STORED_MODELS } from "../../store/decision-row.ts";

/**
 * The form of a decision that is stored. With more than 64 candidates, most decisions keep only the
 * models that an explanation mentions: those that were chosen, the runner-up and the best of the
 * others. A decision is stored in full if an estimate reads it: if it is or could have been a duel
 * (`evaluate`), and one in eight of all decisions, drawn by id alone (`uniformSample`).
 */
export function shortened(decision: Decision): Decision {
  const { candidates, answers, id } = decision;
  const couldDuel = isDuel(decision) || answers === 2 || answers === "any";
  if (candidates.length <= MOST_STORED_MODELS || couldDuel || isStoredInFull(id)) return decision;
  const kept = bestOf(decision);
  const of = (list: readonly number[] | undefined) => list && kept.map((i) => list[i]!);
  const { reasons } = decision;
  const { tokens, excluded } = reasons ?? {};
  return {
    ...decision,
    candidates: kept.map((i) => candidates[i]!),
    values: of(decision.values),
    costs: of(decision.costs),
    omitted: candidates.length - kept.length,
    reasons: reasons && {
      ...reasons,
      excluded: excluded && Object.fromEntries(Object.entries(excluded).slice(0, BEST)),
      uncertainty: of(reasons.uncertainty),
      tokens: tokens && {
        prompt: of(tokens.prompt)!,
        cached: of(tokens.cached)!,
        output: of(tokens.output)!,
      },
    },
  };
}

/** Number of models that are kept besides those that were chosen. */
const BEST = 16;

/** Indices of the candidates that are kept, in their order. */
function bestOf({ candidates, values, costs, lambda, pair, reasons }: Decision): number[] {
  const net = candidates.map((_, i) => (values?.[i] ?? 0) - lambda * (costs?.[i] ?? 0));
  const best = net
    .map((_, i) => i)
    .toSorted((i, j) => net[j]! - net[i]!)
    .slice(0, BEST);
  const named = [...pair, reasons?.runner_up, reasons?.kept?.model, reasons?.guard].map((name) =>
    name === undefined ? -1 : candidates.indexOf(name),
  );
  return [...new Set([...best, ...named])].filter((i) => i >= 0).toSorted((i, j) => i - j);
}
