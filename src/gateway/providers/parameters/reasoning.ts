import { ENCRYPTED } from "../../codecs/responses/request.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import { isRecord, type Json } from "../../wire/json.ts";
import type { EditedRequest } from "./edited-request.ts";
import type { ReasoningControls } from "./rules.ts";

/**
 * Changes how a request controls reasoning to a way that the model accepts. `controls` is false for a model that does
 * not reason, and undefined if nothing is known.
 */
export function adaptReasoning(
  controls: ReasoningControls | false | undefined,
  dialect: DialectName,
  request: EditedRequest,
): void {
  if (dialect === "messages") {
    if (controls !== undefined) adaptThinking(controls, request);
    dropClearing(request);
    return;
  }
  if (controls === undefined) return;
  const path = dialect === "chat" ? "reasoning_effort" : "reasoning.effort";
  if (controls) request.replace(path, (effort) => nearest(effort, controls.efforts));
  else if (dialect === "chat") request.drop(path);
  else {
    request.drop("reasoning");
    dropEncrypted(request);
  }
}

/** Removes the request for encrypted reasoning, which models without reasoning refuse. */
function dropEncrypted(request: EditedRequest): void {
  const include = request.value("include");
  if (!Array.isArray(include) || !include.includes(ENCRYPTED)) return;
  const others = include.filter((each) => each !== ENCRYPTED);
  request.set("include", others, [{ param: "include", change: "dropped" }]);
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The accepted effort that is nearest to the requested one, the lower of two. Unknown efforts stay. */
function nearest(effort: unknown, accepted: readonly string[]): unknown {
  const rank = EFFORTS.indexOf(String(effort));
  const ranks = accepted.map((each) => EFFORTS.indexOf(each)).filter((each) => each >= 0);
  // Turning reasoning off is never the nearest effort.
  const others = effort === "none" ? ranks : ranks.filter((each) => each > 0);
  if (rank < 0 || others.length === 0 || ranks.includes(rank)) return effort;
  const distance = (other: number) => Math.abs(other - rank);
  return EFFORTS[others.toSorted((a, b) => distance(a) - distance(b) || a - b)[0]!];
}

/** Budget of each effort in tokens. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_000,
};

/**
 * Claude models accept budgets (until 4.6), efforts (since 4.5) and adaptive thinking (since 4.6, which is also
 * the first version with the effort "max").
 */
function adaptThinking(controls: ReasoningControls | false, request: EditedRequest): void {
  const thinking = request.value("thinking");
  const { efforts, budget } = controls || { efforts: [] };
  const config = request.value("output_config");
  const effort = isRecord(config) ? config.effort : undefined;
  const isAdaptive = efforts.includes("max");
  if (!isAdaptive && budget === undefined) request.drop("thinking");
  else if (isRecord(thinking) && thinking.type === "adaptive" && !isAdaptive) {
    useBudget(thinking, String(effort ?? "high"), budget!, request);
  } else if (isRecord(thinking) && thinking.type === "enabled" && budget === undefined) {
    const { budget_tokens: tokens, type: _, ...rest } = thinking;
    request.set("thinking", { type: "adaptive", ...rest }, [
      { param: "thinking.type", change: "renamed", to: "adaptive" },
    ]);
    if (effort === undefined && typeof tokens === "number") {
      const others = isRecord(config) ? config : {};
      request.set("output_config", { ...others, effort: effortOf(tokens) }, []);
    }
  }
  const known = efforts.filter((each) => each !== "none");
  if (known.length === 0) request.drop("output_config.effort");
  else request.replace("output_config.effort", (value) => nearest(value, known));
}

/** Effort of a budget: the highest one whose own budget is not larger. */
function effortOf(tokens: number): string {
  const found = Object.entries(BUDGETS).findLast(([, least]) => tokens >= least);
  return !found || found[0] === "minimal" ? "low" : found[0];
}

/**
 * Replaces adaptive thinking by a budget, which has to leave room for the answer. Without room, and in a loop of
 * tools that began without thinking, the model cannot think.
 */
function useBudget(thinking: Json, effort: string, least: number, request: EditedRequest): void {
  const limit = request.value("max_tokens");
  const most = typeof limit === "number" ? Math.floor(limit / 2) : Number.POSITIVE_INFINITY;
  const tokens = Math.min(BUDGETS[effort] ?? BUDGETS.high!, most);
  if (tokens < least || isToolLoopWithoutThinking(request.value("messages"))) {
    request.drop("thinking");
    return;
  }
  const display = thinking.display === "omitted" ? { display: "omitted" } : {};
  request.set("thinking", { type: "enabled", budget_tokens: tokens, ...display }, [
    { param: "thinking.type", change: "renamed", to: "enabled" },
  ]);
}

/** Whether the conversation is in a loop of tools whose first answer does not begin with thinking. */
function isToolLoopWithoutThinking(messages: unknown): boolean {
  const all = Array.isArray(messages) ? messages.filter(isRecord) : [];
  const isPrompt = ({ role, content }: Json) =>
    role === "user" &&
    !(Array.isArray(content) && content.some((block) => block?.type === "tool_result"));
  const first = all.slice(all.findLastIndex(isPrompt) + 1).find(({ role }) => role === "assistant");
  if (!first) return false;
  const [block] = Array.isArray(first.content) ? first.content : [];
  return block?.type !== "thinking" && block?.type !== "redacted_thinking";
}

/** Removes the request to clear earlier thinking, which is refused if the model does not think. */
function dropClearing(request: EditedRequest): void {
  if (!request.mentions("context_management", "clear_thinking")) return;
  const thinking = request.value("thinking");
  if (isRecord(thinking) && thinking.type !== "disabled") return;
  const management = request.value("context_management");
  if (!isRecord(management) || !Array.isArray(management.edits)) return;
  const edits = management.edits.filter((edit) => !String(edit?.type).startsWith("clear_thinking"));
  if (edits.length === 0) request.drop("context_management");
  else {
    request.set("context_management", { ...management, edits }, [
      { param: "context_management.edits", change: "dropped" },
    ]);
  }
}
