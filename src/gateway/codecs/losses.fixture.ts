import type { DialectName } from "../wire/dialect-names.ts";
import {
  config,
  counted,
  effortFor,
  INPUT_SCHEMA,
  keep,
  keepTools,
  stopped,
  system,
  textOf,
  withGrammar,
  withoutLogprobs,
} from "./effects.fixture.ts";
import type { Answer } from "./items/answer.ts";
import { type Item, isOfModel, type MessageItem, type Part } from "./items/item.ts";
import type { ItemRequest } from "./items/request.ts";
import { LOSSES } from "./losses-table.fixture.ts";
import { joinMessages, mergeAdjacent, regroup, sorted } from "./regroup.fixture.ts";

/** The effect of each loss on the internal form, implemented independently of the codecs. */
interface Effect {
  readonly items?: (items: readonly Item[], to: DialectName, model?: string) => readonly Item[];
  readonly part?: (part: Part, to: DialectName) => Part | undefined;
  readonly request?: (request: ItemRequest, to: DialectName) => ItemRequest;
  readonly answer?: (answer: Answer, to: DialectName) => Answer;
}

/** The request that is left after a translation. */
export function loseRequest(
  request: ItemRequest,
  to: DialectName,
  names: readonly string[] = lossesTo(to),
): ItemRequest {
  return names.reduce((left, name) => {
    const effect = EFFECTS[name]!;
    const changed = effect.request ? effect.request(left, to) : left;
    return { ...changed, items: loseItems(changed.items, effect, to) };
  }, request);
}

/** The answer that is left after a translation. */
export function loseAnswer(
  answer: Answer,
  to: DialectName,
  names: readonly string[] = lossesTo(to),
): Answer {
  return names.reduce((left, name) => {
    const effect = EFFECTS[name]!;
    const changed = effect.answer ? effect.answer(left, to) : left;
    const choices = changed.choices.map((choice) => ({
      ...choice,
      items: loseItems(choice.items, effect, to, answer.model),
    }));
    return { ...changed, choices };
  }, answer);
}

function lossesTo(to: DialectName): readonly string[] {
  return LOSSES.filter((loss) => loss.to.includes(to)).map(({ field }) => field);
}

function loseItems(items: readonly Item[], effect: Effect, to: DialectName, model?: string) {
  const { part } = effect;
  const left = part ? items.map((item) => mapParts(item, (each) => part(each, to) ?? [])) : items;
  return effect.items ? effect.items(left, to, model) : left;
}

function mapParts(item: Item, change: (part: Part) => Part | Part[]): Item {
  if (item.type === "message") return { ...item, content: item.content.flatMap(change) };
  if (item.type !== "function_call_output") return item;
  return { ...item, output: item.output.flatMap(change) };
}

const without =
  <K extends keyof ItemRequest>(...keys: K[]) =>
  (request: ItemRequest): ItemRequest =>
    ({ ...request, ...Object.fromEntries(keys.map((key) => [key, undefined])) }) as ItemRequest;

const each = (change: (item: Item) => Item) => (items: readonly Item[]) => items.map(change);

export const EFFECTS: Readonly<Record<string, Effect>> = {
  "members, parts, tools and items that only the client's dialect knows (listed below)": {
    items: (items, to) =>
      items
        .filter((item) => item.type !== "hosted" || item.dialect === to)
        .map((item) => ("extra" in item ? { ...item, extra: keep(item.extra, to) } : item)),
    part: (part, to) => {
      if (part.type === "opaque") return part.dialect === to ? part : undefined;
      return { ...part, extra: keep(part.extra, to) };
    },
    request: (request, to) => ({
      ...request,
      extra: keep(request.extra, to),
      tools: keepTools(request.tools, to),
    }),
    answer: (answer, to) => ({ ...answer, extra: keep(answer.extra, to) }),
  },
  "`id` of an item": {
    items: each((item) => (item.type === "hosted" ? item : { ...item, id: undefined })),
  },
  "`instructions`": {
    request: (request) =>
      request.instructions === undefined
        ? request
        : {
            ...request,
            instructions: undefined,
            items: [system([{ type: "text", text: request.instructions }]), ...request.items],
          },
  },
  "role `developer`": {
    items: each((item) =>
      item.type === "message" && item.role === "developer" ? { ...item, role: "system" } : item,
    ),
  },
  "place of system messages": {
    items: (items) => {
      const isSystem = (item: Item) => item.type === "message" && item.role === "system";
      const parts = items.filter(isSystem).flatMap((item) => (item as MessageItem).content);
      const others = items.filter((item) => !isSystem(item));
      return parts.length > 0 ? [system(parts), ...others] : others;
    },
  },
  "messages of the user between calls and their outputs": {
    items: (items, to) => {
      const out: Item[] = [];
      let start = 0;
      for (const item of items) {
        const isSystem = to === "messages" && item.type === "message" && item.role === "system";
        if (isSystem || isOfModel(item)) start = out.push(item);
        else if (item.type === "function_call_output") out.splice(start++, 0, item);
        else out.push(item);
      }
      return out;
    },
  },
  "`cache_control`": {
    items: each((item) => ("cache" in item ? { ...item, cache: undefined } : item)),
    part: (part) => ({ ...part, cache: undefined }),
    request: (request) => ({
      ...request,
      cache: undefined,
      tools: request.tools?.map((tool) =>
        tool.type === "hosted" ? tool : { ...tool, cache: undefined },
      ),
    }),
  },
  "`detail` of an image": {
    part: (part) => (part.type === "image" ? { ...part, detail: undefined } : part),
  },
  "image by file id": {
    part: (part) => (part.type === "image" && part.source.type === "file" ? undefined : part),
  },
  "document by URL": {
    part: (part) => (part.type === "document" && part.source.type === "url" ? undefined : part),
  },
  "document that is plain text": {
    part: (part) =>
      part.type === "document" && part.source.type === "text"
        ? { type: "text", text: part.source.text, cache: part.cache, extra: part.extra }
        : part,
  },
  audio: { part: (part) => (part.type === "audio" ? undefined : part) },
  refusal: { part: (part) => (part.type === "refusal" ? { ...part, type: "text" } : part) },
  "`is_error` of a tool result": {
    items: each((item) =>
      item.type === "function_call_output" ? { ...item, isError: undefined } : item,
    ),
  },
  "images and documents in the output of a call": {
    items: (items) => {
      const out: Item[] = [];
      let media: Part[] = [];
      for (const item of items) {
        if (item.type !== "function_call_output") {
          if (media.length > 0) out.push({ type: "message", role: "user", content: media });
          media = [];
          out.push(item);
          continue;
        }
        const isMedia = (part: Part) => part.type === "image" || part.type === "document";
        media.push(...item.output.filter(isMedia));
        out.push({ ...item, output: item.output.filter((part) => !isMedia(part)) });
      }
      if (media.length > 0) out.push({ type: "message", role: "user", content: media });
      return out;
    },
  },
  "type of the output of a custom tool": {
    items: each((item) =>
      item.type === "function_call_output" ? { ...item, custom: undefined } : item,
    ),
  },
  "custom tools": {
    items: each((item) =>
      item.type === "function_call" && item.custom
        ? { ...item, custom: undefined, arguments: JSON.stringify({ input: item.arguments }) }
        : item,
    ),
    request: (request) => ({
      ...request,
      toolChoice: request.toolChoice && { ...request.toolChoice, custom: undefined },
      tools: request.tools?.map((tool) =>
        tool.type === "function" && tool.custom
          ? {
              ...tool,
              custom: undefined,
              description: withGrammar(tool.description, tool.custom.format),
              parameters: INPUT_SCHEMA,
            }
          : tool,
      ),
    }),
  },
  "messages of which nothing is left": {
    items: (items) => items.filter((item) => item.type !== "message" || item.content.length > 0),
  },
  "signature and encrypted content of reasoning, and reasoning that has nothing else": {
    items: (items, _, model) =>
      items
        .map((item) =>
          item.type === "reasoning"
            ? {
                ...item,
                signature: undefined,
                redacted: undefined,
                origin: { dialect: "chat" as const, model },
              }
            : item,
        )
        .filter((item) => item.type !== "reasoning" || textOf(item) !== ""),
  },
  "summary of reasoning": {
    items: each((item) =>
      item.type === "reasoning" ? { ...item, summary: [], text: [textOf(item)] } : item,
    ),
  },
  "text of reasoning that is no summary": {
    items: each((item) => {
      if (item.type !== "reasoning") return item;
      const text = textOf(item);
      return { ...item, text: [], summary: text === "" ? [] : [text] };
    }),
  },
  "order of texts, reasoning and calls in an answer": {
    items: (items, _, model) => (model === undefined ? regroup(items) : sorted(items)),
  },
  "function without `parameters`": {
    request: (request) => ({
      ...request,
      tools: request.tools?.map((tool) =>
        tool.type === "function" && !tool.parameters
          ? { ...tool, parameters: { type: "object" } }
          : tool,
      ),
    }),
  },
  "function without `strict`": {
    request: (request) => ({
      ...request,
      tools: request.tools?.map((tool) =>
        tool.type === "function" && !tool.custom && tool.strict === undefined
          ? { ...tool, strict: false }
          : tool,
      ),
    }),
  },
  "`allowed_tools`": {
    request: (request) => ({
      ...request,
      toolChoice: request.toolChoice && { ...request.toolChoice, allowed: undefined },
    }),
  },
  "`parallel_tool_calls`: true without `tool_choice`, or with `tool_choice: none`": {
    request: (request) => {
      const { toolChoice, parallelToolCalls } = request;
      if (toolChoice?.mode === "none" || (parallelToolCalls && !toolChoice)) {
        return { ...request, parallelToolCalls: undefined };
      }
      const isAdded = parallelToolCalls === false && !toolChoice;
      return isAdded ? { ...request, toolChoice: { mode: "auto" } } : request;
    },
  },
  "format `json_object` or `text`": {
    request: (request) =>
      request.output?.type === "json_schema" ? request : { ...request, output: undefined },
  },
  "name, description and `strict` of the answer's schema": {
    request: (request) =>
      request.output?.type === "json_schema"
        ? { ...request, output: { type: "json_schema", schema: request.output.schema } }
        : request,
  },
  "schema without a name": {
    request: (request) =>
      request.output?.type === "json_schema"
        ? { ...request, output: { ...request.output, name: request.output.name ?? "answer" } }
        : request,
  },
  "`verbosity`": { request: without("verbosity") },
  "`thinking`: budget, `adaptive`": {
    request: config(({ enabled, effort, budget, summary }) => {
      if (enabled === false) return { enabled, summary };
      const implied = budget === undefined ? undefined : effortFor(budget);
      const wanted = effort ?? implied;
      return wanted === undefined ? { summary } : { enabled: true, effort: wanted, summary };
    }),
  },
  "effort `minimal`": {
    request: config((of) => (of.effort === "minimal" ? { ...of, effort: "low" } : of)),
  },
  "`reasoning.summary`: `concise`, `detailed`": {
    request: config(({ summary, ...of }) => {
      if (!of.enabled || summary === undefined) return of;
      return { ...of, summary: summary === "omitted" ? summary : "auto" };
    }),
  },
  "`reasoning.summary` or `thinking.display`": { request: config(({ summary: _, ...of }) => of) },
  "`thinking.display: omitted`": {
    request: config(({ summary, ...of }) => (summary === "omitted" ? of : { ...of, summary })),
  },
  "a request without a limit of tokens": {
    request: (request) => ({ ...request, maxTokens: request.maxTokens ?? 16_384 }),
  },
  "`top_k`": { request: without("topK") },
  "`seed`, `frequency_penalty`, `presence_penalty`": {
    request: without("seed", "frequencyPenalty", "presencePenalty"),
  },
  "`stop`": { request: without("stop") },
  "`n`": {
    request: without("choices"),
    answer: (answer) => ({ ...answer, choices: answer.choices.slice(0, 1) }),
  },
  "`stream_options.include_usage`": { request: without("includeUsage") },
  "`logprobs`": { request: without("logprobs"), part: withoutLogprobs },
  "`logprobs` of earlier answers": {
    request: (request) => ({
      ...request,
      items: request.items.map((item) => mapParts(item, withoutLogprobs)),
    }),
  },
  "`metadata` other than the user": { request: without("metadata") },
  "several texts in one answer": {
    answer: (answer) => ({
      ...answer,
      choices: answer.choices.map((choice) => ({ ...choice, items: joinMessages(choice.items) })),
    }),
  },
  "two messages in a row in one answer": {
    answer: (answer) => ({
      ...answer,
      choices: answer.choices.map((choice) => ({ ...choice, items: mergeAdjacent(choice.items) })),
    }),
  },
  "time of the answer": { answer: (answer) => ({ ...answer, created: undefined }) },
  "stop reasons `stop_sequence`, `pause_turn`, `model_context_window_exceeded`": {
    answer: stopped(({ reason }) => ({
      reason:
        reason === "context_length"
          ? "length"
          : reason === "stop_sequence" || reason === "pause"
            ? "end"
            : reason,
    })),
  },
  "stop reason of a complete answer": {
    answer: stopped((stop, items) => {
      if (stop.reason !== "end" && stop.reason !== "tool_calls") return stop;
      const isCalled = items.some((item) => item.type === "function_call");
      return { reason: isCalled ? "tool_calls" : "end" };
    }),
  },
  "cache writes that live for an hour, in the usage": {
    answer: counted((usage) => ({ ...usage, cacheWrite1hTokens: 0 })),
  },
  "an answer without usage": {
    answer: (answer) => ({
      ...answer,
      usage: answer.usage ?? {
        promptTokens: 0,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        cacheWrite1hTokens: 0,
        completionTokens: 0,
        reasoningTokens: 0,
      },
    }),
  },
};
