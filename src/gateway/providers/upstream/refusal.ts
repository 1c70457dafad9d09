import { type Echo, echoIn, NO_ECHO } from "./echo.ts";
import type { ErrorFacts } from "./error-facts.ts";

/**
 * Reason why an upstream refused a request. Every kind except "request" is about the model, so another model may
 * answer.
 */
export type Refusal =
  /** The prompt, or the prompt with its answer, is too long. `limit` is the model's, in tokens. */
  | { readonly kind: "context_length"; readonly limit?: number | undefined }
  /** The provider's moderation blocked the prompt. */
  | { readonly kind: "content_filter" }
  /** The model lacks a feature that the request uses. */
  | { readonly kind: "unsupported_feature"; readonly feature: Feature }
  /** The model refuses parameters, which can be left out, renamed or limited. */
  | { readonly kind: "unsupported_parameter"; readonly parameters: readonly RefusedParameter[] }
  /** The account at the provider has no credit. */
  | { readonly kind: "quota" }
  /** The request itself is wrong. */
  | { readonly kind: "request" };

export type Feature = "vision" | "tools" | "json_schema" | "schema_with_tools";

export interface RefusedParameter {
  /** Path in the request, such as `temperature` or `messages.1.reasoning_content`. */
  readonly name: string;
  /** Name that the model accepts instead. */
  readonly instead?: string | undefined;
  /** Largest value that the model accepts. */
  readonly max?: number | undefined;
  /** Values that the model refuses, if it names them. */
  readonly values?: readonly string[] | undefined;
}

/** Name of the schemas of all tools among refused parameters. */
export const TOOL_SCHEMAS = "tools.function.parameters";

/** Header with the names of beta features, which providers of Claude know to a different extent. */
export const BETA_HEADER = "anthropic-beta";

/** Time for which limits learned from a refusal are remembered. It is short, because providers change their models. */
export const LEARNED_MS = 3_600_000;

/** An error as it concerns the request that it refuses, and all other requests. */
export interface ClassifiedRefusal {
  /** Reason of the refusal, by which this request is sent again or to another model. */
  readonly refusal: Refusal;
  /** The part of the reason that the upstream itself has stated. Only this may be remembered for other requests. */
  readonly lesson: Refusal;
}

/**
 * Classifies an error of an upstream. Some upstreams quote the request in their messages, and a quoted prompt may
 * read like any refusal. A reason that stands only in quoted text concerns this request alone.
 * `sent` is the request as the upstream received it.
 */
export function classifyRefusal(
  status: number,
  facts: ErrorFacts,
  sent: Uint8Array | undefined,
): ClassifiedRefusal {
  const refusal = classify(status, facts);
  if (refusal.kind === "request" || refusal.kind === "content_filter" || !sent) {
    return { refusal, lesson: refusal };
  }
  const lesson = classify(status, facts, echoIn(sent, facts.message));
  // An account without credit counts against the deployment, so a message that only quotes such
  // words is ignored.
  const isOwn = lesson.kind !== "request" || refusal.kind === "quota";
  return { refusal: isOwn ? lesson : refusal, lesson };
}

/**
 * Classifies an error by its code and type, and by its message if the code does not decide. Providers
 * agree on none of them. Text that repeats the request is ignored.
 */
function classify(status: number, facts: ErrorFacts, echo = NO_ECHO): Refusal {
  const { message, code = "", type = "" } = facts;
  const says = (pattern: RegExp) =>
    pattern.test(`${code} ${type}`) || ownMatches(pattern, message, echo.ofAny).length > 0;
  if (status === 402 || (says(QUOTA) && !FAULT_CODE.test(code))) return { kind: "quota" };
  if (status === 429 || status >= 500) return { kind: "request" };
  if (FAULT_CODE.test(code)) return ofFaultCode(facts, echo);
  if (says(CONTEXT)) return { kind: "context_length", limit: limitIn(message, echo) };
  if (says(FILTER)) return { kind: "content_filter" };
  for (const [feature, pattern] of FEATURES) {
    if (ownMatches(pattern, message, echo.ofAny).length > 0) {
      return { kind: "unsupported_feature", feature };
    }
  }
  const parameters = refusedIn(facts, echo);
  return parameters.length > 0
    ? { kind: "unsupported_parameter", parameters }
    : { kind: "request" };
}

/** Codes of a fault of the request. Messages with them often quote the request. */
const FAULT_CODE =
  /^(invalid_(value|type|json|format|image\w*|base64|url|file\w*|schema|function_parameters)|missing_\w+|empty_\w+|(integer|decimal|number|string|array|object)_(above|below)_\w+|\w+_(above|below)_(max|min)_\w+)$/;

/** The refusal of a request whose value has a fault that the code names. The message is not consulted. */
function ofFaultCode({ code = "", param = "", message }: ErrorFacts, echo: Echo): Refusal {
  // The limit of a text is in characters.
  if (code === "string_above_max_length" && CONTENT.test(param)) return { kind: "context_length" };
  if (code === "invalid_value" && ROLE.test(param)) {
    return { kind: "unsupported_parameter", parameters: [{ name: param }] };
  }
  if (code === "integer_above_max_value" && param !== "") {
    const max = numberIn(ownMatches(EXPECTED, message, echo.ofValue)[0]?.[1]);
    if (max !== undefined)
      return { kind: "unsupported_parameter", parameters: [{ name: param, max }] };
  }
  return { kind: "request" };
}

/** Parameters that hold the conversation. */
const CONTENT = /^(messages|input|prompt|contents?|instructions|system)\b/;
const ROLE = /^messages\W.*role$/;

/** The matches of a pattern that are the upstream's own words. */
function ownMatches(pattern: RegExp, message: string, isEcho: Echo["ofAny"]): RegExpExecArray[] {
  const all = [...message.matchAll(new RegExp(pattern, "gi"))];
  return all.filter(([text]) => !isEcho(text));
}

function numberIn(digits: string | undefined): number | undefined {
  const number = Number(digits?.replaceAll(/[,_]/g, ""));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

const QUOTA =
  /insufficient_quota|exceeded your (current|monthly) quota|credit balance is too low|billing_(hard_limit|not_active)|insufficient (balance|credit|funds)|out of credits/i;

const CONTEXT =
  /context_length_exceeded|exceed_context_size|(maximum|max|available) (context|prompt|sequence|input)[ _-]?(length|size|window|tokens)|context (length|window|limit|size)|prompt is too long|input is too long|too many (input )?tokens|input token count|too large for model|tokens? \+ `?max_new_tokens|exceeds? the (maximum|model'?s?) (number of )?(input )?tokens|reduce the length of the (messages|prompt)/i;

const FILTER =
  /content_filter|content_policy|responsibleaipolicy|content management policy|content filtering policy|moderation_blocked|flagged as potentially violating|data_inspection_failed|content exists risk|prohibited_content|violates? (our |the )?(usage|content) (policy|policies|guidelines)|requires moderation|safety_check/i;

/** Messages about a feature. The combination of a schema with tools comes first, because it names both. */
const FEATURES: readonly (readonly [Feature, RegExp])[] = [
  [
    "schema_with_tools",
    /function calling with a response mime type|(json|response_format|schema|structured)[^.]*(combined|together|same time|conjunction|along)[^.]*(tool|function)|(tool|function)[^.]*(combined|together|same time|conjunction|along)[^.]*(json|response_format|schema|structured)/i,
  ],
  [
    "vision",
    /(does not|doesn'?t|not) (currently )?(support|accept)(ed|s)?( the)?[^.]*\b(image|vision|multimodal)|\bimages?(_url)?( input)?s? (is|are) (not|only) (supported|allowed|available)|support image input|no image input|not a multimodal model|unknown variant `image_url`/i,
  ],
  [
    "tools",
    /(does not|doesn'?t) (currently )?support (the )?(tools?|function)|tools? (is|are) not supported|(tool|function)[ _]call(s|ing)? (is|are) not supported|support tool use|requires --enable-auto-tool-choice|tool use (is )?not supported/i,
  ],
  [
    "json_schema",
    /(json_schema|json schema|structured outputs?|response_format|response format)['"`]?( of type ['"`]json_schema['"`])?[^.]*(is|are) (not|un)\s?(supported|available)|(does not|doesn'?t) support[^.]*(json_schema|json schema|structured output|response[ _]format)|output_(config\.)?format\b.*\bnot (supported|permitted)|compiled grammar is too large|schemas? (is too complex|contains? too many)/i,
  ],
];

/** The largest number of tokens that a message states as the limit. */
function limitIn(message: string, echo: Echo): number | undefined {
  for (const pattern of LIMITS) {
    const found = ownMatches(pattern, message, echo.ofAny)[0]?.slice(1).find(Boolean);
    const limit = numberIn(found);
    if (limit !== undefined) return limit;
  }
  return undefined;
}

const NUMBER = "(\\d[\\d,_]*)";
const EXPECTED = new RegExp(`expected a value <= ${NUMBER}`);
const LIMITS = [
  // "190000 + 20000 > 200000", "208310 tokens > 200000 maximum"
  new RegExp(`> ?${NUMBER}`),
  new RegExp(
    `(?:maximum|max|available|model'?s?)[\\w ]*?(?:is|of|:|allowed|size|\\() ?\\(?${NUMBER}`,
    "i",
  ),
  new RegExp(`${NUMBER} (?:tokens? )?(?:is the )?maximum context`, "i"),
  new RegExp(
    `(?:cannot exceed|must be <=|at most|limit of|limit is|context (?:size|length|window) of) ${NUMBER}`,
    "i",
  ),
];

/** The parameters that an error names. */
function refusedIn(facts: ErrorFacts, echo: Echo): RefusedParameter[] {
  const { message, code = "", param, fields } = facts;
  const own = (pattern: RegExp) => ownMatches(pattern, message, echo.ofValue);
  const extra = fields.filter(({ type }) => EXTRA_FIELD.test(type));
  if (extra.length > 0) return extra.map(({ path }) => ({ name: path }));
  if (own(BETA).length > 0) {
    const quoted = [...message.matchAll(/`([\w.-]{1,100})`/g)].map(([, name]) => name!);
    const values = quoted.filter((name) => name !== BETA_HEADER);
    return [{ name: BETA_HEADER, values: values.length > 0 ? values : undefined }];
  }
  if (own(SCHEMA_MEMBER).length > 0) return [{ name: TOOL_SCHEMAS }];
  const isUnsupported = UNSUPPORTED_CODE.test(code);
  if (!(isUnsupported && param) && own(DEVELOPER).length > 0) return [{ name: "messages.role" }];
  const tooLarge = TOO_LARGE.flatMap(own)[0];
  const max = numberIn(tooLarge?.[2]);
  if (tooLarge && max !== undefined) return [{ name: tooLarge[1]!, max }];
  const named = REFUSED.map(own).find((matches) => matches.length > 0);
  const names = isUnsupported && param ? [param] : (named ?? []).map((match) => match[1]!);
  const instead = own(INSTEAD)[0]?.[1];
  // "Extra inputs are not permitted" does not refuse a parameter of this name.
  const refused = names.filter((name) => name !== "inputs");
  return [...new Set(refused)].map((name) => ({
    name,
    ...(instead !== undefined && instead !== name && { instead }),
  }));
}

/** A message of Google about a member of a tool's schema. */
const SCHEMA_MEMBER = /unknown name "?[$\w]+"? at '[^']{0,300}\bparameters\b[^']{0,300}'/i;
/** A message about the header with beta features, at Vertex or Anthropic and at Bedrock. */
const BETA = /unexpected values?(\(s\))? .{0,2000}anthropic-beta|invalid beta flag/i;
const INSTEAD = /use ['"`]?(\w+)['"`]? instead/i;
/** A message about the role `developer`, which only OpenAI's models know. */
const DEVELOPER = /(role|unknown variant)[^.]{0,80}developer|developer[^.]{0,40}role/i;
const EXTRA_FIELD = /extra_forbidden|extra fields|not permitted/i;
const UNSUPPORTED_CODE =
  /^(unsupported_(parameter|value)|unknown_parameter|parameter_not_supported)$/;

/** A name such as `messages[1].name`. It starts at the start of a word, so that long words are read once. */
const PATH = "['\"`]?(?<![.[\\]\\w])(\\w(?:[.[\\]\\w]{0,198}\\w)?)\\]?['\"`]?";
/** Forms of "this parameter is not accepted"; the group is its name. */
const REFUSED = [
  new RegExp(`unsupported (?:parameter|value)(?:\\(s\\))?: ${PATH}`, "i"),
  new RegExp(
    `(?:unknown|unrecognized|invalid|extra|unexpected) (?:request )?(?:parameters?|arguments?|fields?|name)(?: supplied)?:? ${PATH}(?!.*(?:must|should|expected))`,
    "i",
  ),
  new RegExp(`${PATH}: extra inputs are not permitted`, "i"),
  new RegExp(`property ${PATH} is (?:un|not )supported`, "i"),
  new RegExp(`argument not supported(?: on this model)?: ${PATH}`, "i"),
  new RegExp(
    `(?:parameter )?${PATH} (?:parameter )?(?:is|are) (?:not supported|unsupported|not permitted|deprecated for this model|not allowed)`,
    "i",
  ),
  new RegExp(`${PATH} (?:does not support|may only be set to|must be unset|is fixed)`, "i"),
  new RegExp(
    `does not support (?:the )?(?:parameters?:? )?${PATH}(?: parameter)?[.,]?(?: |$)`,
    "i",
  ),
  new RegExp(`${PATH} and ['"\`]?\\w+['"\`]? cannot both be specified`, "i"),
];

/** Forms of "this value is too large"; the groups are parameter and limit. */
const TOO_LARGE = [
  new RegExp(`${PATH}: \\d+ > ${NUMBER}`, "i"),
  new RegExp(`${PATH} is too large: \\d+\\. This model supports at most ${NUMBER}`, "i"),
  new RegExp(
    `${PATH} (?:must be|cannot be|should be) (?:less than or equal to|<=|at most|greater than|larger than) ['"\`]?${NUMBER}`,
    "i",
  ),
];
