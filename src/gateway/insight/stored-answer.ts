import type { Decision as ShownDecision } from "../../api/decision.ts";
import type { Decision } from "../../store/decision.ts";
import type { StoredResponses } from "../log/stored-responses.ts";
import { isRecord } from "../wire/json.ts";

/** Adds the text of the answer, if its response is stored and the models are not hidden. */
export async function withStoredAnswer(
  responses: Pick<StoredResponses, "read">,
  { id, owner }: Pick<Decision, "id" | "owner">,
  shown: ShownDecision,
): Promise<ShownDecision> {
  if (shown.duel || shown.hidden !== undefined) return shown;
  const state = await responses.read(`resp_${id}`, owner);
  const text = state?.kind === "kept" ? textIn(state.response.output) : "";
  if (text === "") return shown;
  const answers = shown.answers.map((answer) => (answer.slot === 0 ? { ...answer, text } : answer));
  return { ...shown, answers };
}

/** The text of the messages in the output of a response. */
function textIn(output: unknown): string {
  const items = Array.isArray(output) ? output.filter(isRecord) : [];
  return items
    .flatMap(({ content }) => (Array.isArray(content) ? content.filter(isRecord) : []))
    .flatMap(({ type, text }) => (type === "output_text" && typeof text === "string" ? [text] : []))
    .join("\n");
}
