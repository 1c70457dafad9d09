import type { ListedModel } from "../../../api/model.ts";
import { isRecord } from "../../wire/json.ts";
import type { ReasoningControls } from "../parameters/rules.ts";
import { MAKERS, makersNames, namesOf, SOURCES, undated } from "./sources.ts";

/** Capabilities, limits and parameters of a model. An undefined member is unknown. */
export interface ModelFacts {
  readonly capabilities: NonNullable<ListedModel["capabilities"]>;
  /** Longest answer in tokens. */
  readonly maxAnswer?: number | undefined;
  /** Whether the model accepts a temperature. */
  readonly temperature?: boolean | undefined;
  /** Ways to control the model's reasoning; false if the model does not reason. */
  readonly reasoning?: ReasoningControls | false | undefined;
}

/** The part of models.dev that Joust uses, in a compact form. */
export interface ModelFile {
  readonly source: string;
  readonly license: string;
  /** Day of the data. */
  readonly date: string;
  /** Rows by provider and model. */
  readonly models: Readonly<Record<string, Readonly<Record<string, Row>>>>;
}

/**
 * Tokens of the context and of the longest answer (0 if unknown), and one character for each of vision, tools, JSON
 * schema, temperature and reasoning: 1 yes, 0 no, - unknown. If it is known how reasoning is controlled, the efforts
 * follow, separated by spaces, and the least budget. Data of older versions have no reasoning.
 */
type Row = readonly [
  context: number,
  answer: number,
  features: string,
  efforts?: string,
  budget?: number,
];

/** Looks models up in the table. */
export class ModelTable {
  readonly date: string;
  readonly #providers = new Map<string, ReadonlyMap<string, Row>>();

  constructor({ date, models }: ModelFile) {
    this.date = date;
    for (const [provider, rows] of Object.entries(models)) {
      const index = new Map(Object.entries(rows).map(([name, row]) => [undated(name), row]));
      for (const [name, row] of Object.entries(rows)) index.set(name, row);
      this.#providers.set(provider, index);
    }
  }

  /** Names of the models of a known provider. */
  modelsOf(kind: string): string[] {
    const rows = this.#providers.get(SOURCES[kind]?.models ?? "");
    return [...(rows?.keys() ?? [])].toSorted();
  }

  /** Facts about a model of a known provider, or of another upstream. */
  facts(kind: string | undefined, model: string): ModelFacts {
    const own = kind === undefined ? undefined : SOURCES[kind]?.models;
    for (const name of [...namesOf(model), ...makersNames(model)]) {
      for (const provider of own === undefined ? MAKERS : [own, ...MAKERS]) {
        const row = this.#providers.get(provider)?.get(name);
        if (row) return factsOf(name, row);
      }
    }
    return { capabilities: {} };
  }
}

function factsOf(name: string, [context, answer, features, efforts, budget]: Row): ModelFacts {
  const flag = (i: number) => FLAGS[features[i] ?? "-"];
  const capabilities = {
    context: context || undefined,
    vision: flag(0),
    tools: flag(1),
    json_schema: NO_SCHEMA.has(name) ? false : flag(2),
  };
  const reasoning =
    efforts === undefined
      ? undefined
      : { efforts: efforts.split(" ").filter((effort) => effort !== ""), budget };
  return {
    capabilities,
    maxAnswer: answer || undefined,
    temperature: flag(3),
    reasoning: flag(4) === false ? false : reasoning,
  };
}

const FLAGS: Readonly<Record<string, boolean | undefined>> = { "1": true, "0": false };

/** Models that support no JSON schemas, although models.dev does not say so. */
const NO_SCHEMA = new Set(["gpt-3.5-turbo", "llama-3.3-70b-versatile", "llama-3.1-8b-instant"]);

/** Reads the file of models.dev and keeps what Joust uses. Unknown members are ignored. */
export function compactModels(api: unknown, source: string, date: string): ModelFile {
  const wanted = new Set(Object.values(SOURCES).map(({ models }) => models));
  const providers = Object.entries(isRecord(api) ? api : {}).flatMap(([provider, entry]) => {
    if (!wanted.has(provider) || !isRecord(entry) || !isRecord(entry.models)) return [];
    const rows = Object.entries(entry.models).flatMap(([name, model]) => {
      const row = isRecord(model) ? rowOf(model) : undefined;
      return row ? [[name, row] as const] : [];
    });
    return rows.length > 0 ? [[provider, Object.fromEntries(rows)] as const] : [];
  });
  return { source, license: LICENSE, date, models: Object.fromEntries(providers) };
}

const LICENSE = "MIT License, Copyright (c) 2025 models.dev; the text is in LICENSE-models.dev";

function rowOf(model: Readonly<Record<string, unknown>>): Row | undefined {
  const { limit, modalities, tool_call: tools, structured_output: schema, temperature } = model;
  const { reasoning } = model;
  const count = (value: unknown) =>
    typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
  const inputs = isRecord(modalities) ? modalities.input : undefined;
  const outputs = isRecord(modalities) ? modalities.output : undefined;
  // Models that make images or sounds do not answer chats.
  if (Array.isArray(outputs) && !outputs.includes("text")) return undefined;
  const vision = Array.isArray(inputs) ? inputs.includes("image") : undefined;
  const limits = isRecord(limit) ? limit : {};
  const flags = [vision, tools, schema, temperature, reasoning].map((flag) =>
    typeof flag === "boolean" ? (flag ? "1" : "0") : "-",
  );
  const row = [count(limits.context), count(limits.output), flags.join("")] as const;
  return [...row, ...controlsOf(model.reasoning_options)];
}

/** Efforts and least budget of a model. An empty list says nothing. */
function controlsOf(options: unknown): [] | [efforts: string] | [efforts: string, budget: number] {
  if (!Array.isArray(options) || options.length === 0) return [];
  const find = (type: string) =>
    options.find((option: unknown) => isRecord(option) && option.type === type);
  const { values = [] } = find("effort") ?? {};
  const names = Array.isArray(values) ? values.filter((each) => typeof each === "string") : [];
  const budget: unknown = find("budget_tokens") && (find("budget_tokens").min ?? 1);
  const efforts = names.join(" ");
  return typeof budget === "number" ? [efforts, Math.max(1, budget)] : [efforts];
}
