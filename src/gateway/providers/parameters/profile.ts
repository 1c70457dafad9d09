import type { Clock } from "../../clock/clock.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import type { Members } from "../../wire/json.ts";
import {
  BETA_HEADER,
  LEARNED_MS,
  type Refusal,
  type RefusedParameter,
  TOOL_SCHEMAS,
} from "../upstream/refusal.ts";
import type { Adaptation, UpstreamRequest } from "../upstream/upstream.ts";
import { adapt } from "./adapt.ts";
import { isEmpty, mergeRules, type ParameterRules } from "./rules.ts";

/** Rules of one model: those known in advance, and those that its refusals have shown, which expire. */
export class ParameterProfile {
  readonly #known: ParameterRules;
  readonly #clock: Clock;
  readonly #learned = new Map<string, { readonly rules: ParameterRules; readonly until: number }>();
  #rules: ParameterRules | undefined;
  #validUntil = Number.POSITIVE_INFINITY;

  constructor(known: ParameterRules, clock: Clock) {
    this.#known = known;
    this.#clock = clock;
    this.#merge();
  }

  /** The rules at present, or undefined if there are none. */
  get rules(): ParameterRules | undefined {
    // Without learned rules nothing expires, and the clock need not be read.
    if (this.#learned.size > 0 && this.#clock.now() >= this.#validUntil) this.#merge();
    return this.#rules;
  }

  /**
   * The rules for one request. A refusal of the request may add more of them. `isTranslated`: the gateway writes the
   * request itself.
   */
  forRequest(isTranslated = false): RequestRules {
    return new RequestRules(this, isTranslated);
  }

  /** Remembers rules for an hour. */
  learn(found: readonly ParameterRules[]): void {
    const until = this.#clock.now() + LEARNED_MS;
    for (const rules of found) {
      if (this.#learned.size < MAX_LEARNED) {
        this.#learned.set(JSON.stringify(rules), { rules, until });
      }
    }
    this.#merge();
  }

  #merge(): void {
    const now = this.#clock.now();
    for (const [key, { until }] of this.#learned) if (now >= until) this.#learned.delete(key);
    const learned = [...this.#learned.values()];
    const rules = mergeRules([this.#known, ...learned.map(({ rules }) => rules)]);
    this.#rules = isEmpty(rules) ? undefined : rules;
    this.#validUntil = Math.min(...learned.map(({ until }) => until), Number.POSITIVE_INFINITY);
  }
}

/**
 * Rules for one request: those of the model, and those that its refusals of this request have shown. The
 * latter are remembered for other requests when the model has answered this one with them.
 */
class RequestRules {
  readonly #profile: Pick<ParameterProfile, "rules" | "learn">;
  /** Rules that refusals of this request have shown, and whether the upstream itself has stated them. */
  #own: readonly { readonly rules: ParameterRules; readonly isStated: boolean }[] = NO_RULES;
  readonly #isTranslated: boolean;
  /** Beta features that were sent, and whether any was left out. */
  #betas: readonly string[] = NO_BETAS;
  #lacksBetas = false;
  #sent: { readonly dialect: DialectName; readonly members: Members } | undefined;

  constructor(profile: Pick<ParameterProfile, "rules" | "learn">, isTranslated: boolean) {
    this.#profile = profile;
    this.#isTranslated = isTranslated;
  }

  /** Headers of the client without the beta features that the model refuses. */
  headers(given: UpstreamRequest["headers"]): UpstreamRequest["headers"] {
    const betas = given?.[BETA_HEADER];
    if (betas === undefined) return given;
    const { dropBetas: dropped = [] } = this.#rules ?? {};
    const all = betas.split(",").map((name) => name.trim());
    this.#betas = all.filter((name) => !dropped.includes("*") && !dropped.includes(name));
    this.#lacksBetas = this.#betas.length < all.length;
    if (!this.#lacksBetas) return given;
    const { [BETA_HEADER]: _, ...others } = given!;
    return this.#betas.length > 0 ? { ...others, [BETA_HEADER]: this.#betas.join(",") } : others;
  }

  /** Whether the model accepts a schema of its answer. */
  get schemas(): boolean {
    return this.#rules?.schemas === true;
  }

  get #rules(): ParameterRules | undefined {
    const { rules } = this.#profile;
    if (this.#own.length === 0) return rules;
    return mergeRules([...(rules ? [rules] : []), ...this.#own.map((one) => one.rules)]);
  }

  /** Returns a function that adapts the request in the upstream's dialect and puts the changes into `adapted`. */
  adapter(adapted: Adaptation[]): NonNullable<UpstreamRequest["adapt"]> {
    return (dialect, members) => {
      this.#sent = { dialect, members };
      const rules = this.#rules;
      if (!rules) return undefined;
      const changed = adapt(rules, dialect, members);
      // A request may be sent again to another deployment.
      const headers: Adaptation[] = this.#lacksBetas
        ? [{ param: BETA_HEADER, change: "dropped" }]
        : [];
      adapted.splice(0, adapted.length, ...changed.adapted, ...headers);
      return changed.edits;
    };
  }

  /** Finds rules in a refusal. Returns whether they change the request, so that another attempt may succeed. */
  find(refusal: Refusal | undefined, lesson: Refusal | undefined): boolean {
    const stated = rulesOf(lesson);
    const found = rulesOf(refusal).filter((rules) => this.#changes(rules));
    this.#own = [
      ...this.#own,
      ...found.map((rules) => ({ rules, isStated: stated.some((one) => isSame(one, rules)) })),
    ];
    return found.length > 0;
  }

  /** The model has answered, so the rules that were found are right. */
  confirm(): void {
    const stated = this.#own.filter(({ isStated }) => isStated);
    if (stated.length > 0) this.#profile.learn(stated.map(({ rules }) => rules));
  }

  /** Whether the rule concerns a member that was sent. */
  #changes(rule: ParameterRules): boolean {
    if (!this.#sent || this.#own.some(({ rules }) => isSame(rules, rule))) return false;
    const { dialect, members } = this.#sent;
    const before = this.#rules ?? {};
    if (rule.dropBetas) {
      const names = rule.dropBetas;
      return names.includes("*")
        ? this.#betas.length > 0
        : names.some((name) => this.#betas.includes(name));
    }
    if (rule.schemas === false) {
      const isSent = dialect === "messages" && members.find("output_config") !== undefined;
      return this.#isTranslated && before.schemas === true && isSent;
    }
    // A member that is null is refused as well, although leaving it out is no change to report.
    const isRemoved = [...(rule.drop ?? []), ...Object.keys(rule.rename ?? {})].some((path) => {
      const name = path.split(".", 1)[0]!;
      const isKnown = before.drop?.includes(path) || before.rename?.[path] !== undefined;
      return !isKnown && (ADDED.has(name) || members.find(name) !== undefined);
    });
    if (isRemoved) return true;
    const changes = (rules: ParameterRules) =>
      JSON.stringify(adapt(rules, dialect, members).adapted);
    return changes(before) !== changes(mergeRules([before, rule]));
  }
}

const NO_BETAS: readonly string[] = [];
const NO_RULES = [] as const;

function isSame(a: ParameterRules, b: ParameterRules): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Members that the gateway itself adds to requests. */
const ADDED = new Set(["stream_options", "store", "include"]);

/** Rules that are learned for one model. Names come from error messages, so their number is limited. */
const MAX_LEARNED = 50;

function rulesOf(refusal: Refusal | undefined): ParameterRules[] {
  if (refusal?.kind === "unsupported_feature" && refusal.feature === "schema_with_tools") {
    return [{ noSchemaWithTools: true }];
  }
  if (refusal?.kind === "unsupported_feature" && refusal.feature === "json_schema") {
    return [{ schemas: false }];
  }
  if (refusal?.kind !== "unsupported_parameter") return [];
  return refusal.parameters.flatMap((parameter) => ruleOf(parameter) ?? []);
}

/** The rule for a refused parameter, or undefined if a request without it would mean something else. */
function ruleOf(refused: RefusedParameter): ParameterRules | undefined {
  const { name, instead, max, values } = refused;
  if (name === TOOL_SCHEMAS) return { plainSchemas: true };
  if (name === BETA_HEADER) return { dropBetas: values ?? ["*"] };
  const path = name
    .replaceAll(/\[\w*\]/g, "")
    .split(".")
    .filter((part) => !/^\d+$/.test(part));
  const root = snakeCase(path[0] ?? "");
  const leaf = path.at(-1)!;
  if (path.length > 2 && path.includes("cache_control") && leaf !== "type") {
    return { dropFromCache: [leaf] };
  }
  if (root === "messages") {
    if (leaf === "role") return { noDeveloper: true };
    return path.length > 1 && !MESSAGE.has(leaf) ? { dropFromMessages: [leaf] } : undefined;
  }
  if (root === "tools" && path.length > 1 && !TOOL.has(leaf)) return { dropFromTools: [leaf] };
  if (REASONING.has(root)) return { dropFromMessages: [root] };
  if (max !== undefined) return { max: { [root]: max } };
  const other = instead ?? OTHER_NAMES[root];
  if (other !== undefined) return { rename: { [root]: other } };
  if (path.length === 2 && root === "text" && leaf !== "format") return { drop: [`text.${leaf}`] };
  if (MEANT.has(root)) return undefined;
  return { drop: [path.length > 1 ? `${root}.${path[1]}` : root] };
}

/** xAI reports `presencePenalty` for presence_penalty. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Members that decide what the client gets. They are never left out: another model answers instead. */
const MEANT = new Set(
  "model messages input prompt system instructions tools tool_choice functions function_call response_format text format output_config stream n stop stop_sequences logprobs top_logprobs modalities audio max_output_tokens previous_response_id conversation background".split(
    " ",
  ),
);

/** Members of messages that carry the conversation itself. */
const MESSAGE = new Set("role content tool_calls tool_call_id text type image_url".split(" "));

/** Members of tools that say what they do. */
const TOOL = new Set("type name description input_schema parameters function custom".split(" "));

const REASONING = new Set(["reasoning_content", "reasoning_details"]);

const OTHER_NAMES: Readonly<Record<string, string>> = {
  max_tokens: "max_completion_tokens",
  max_completion_tokens: "max_tokens",
};
