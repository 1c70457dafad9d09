import { Chunks } from "../../wire/chunks.ts";
import { isRecord, JsonError, type Members, scanObject } from "../../wire/json.ts";
import { errorIn, UpstreamError } from "./error.ts";
import { tokensIn } from "./text-tokens.ts";
import { DIALECT_OF, type Endpoint, type Pass, type Translation } from "./upstream.ts";
import type { Usage } from "./usage.ts";
import { usageIn } from "./usage-in.ts";

/** A complete answer of an endpoint. It is passed on when all of it has arrived. */
export class WholeAnswer implements Translation {
  readonly events = 0;
  readonly isDone = false;
  usage: Usage | undefined;
  tokens: number | undefined;
  members: Members | undefined;
  protected readonly upstream: string;
  readonly #endpoint: AnsweringEndpoint;
  readonly #chunks = new Chunks();

  constructor(upstream: string, endpoint: AnsweringEndpoint) {
    this.upstream = upstream;
    this.#endpoint = endpoint;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(pass: Pass): void {
    const body = this.#chunks.take();
    const dialect = DIALECT_OF[this.#endpoint as Endpoint] ?? "chat";
    try {
      this.members = scanObject(body);
      this.usage = usageIn(dialect, this.members.value("usage"));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      const problem = `sent an incomplete answer: ${error.message}`;
      const broken = new UpstreamError("broken", this.upstream, problem);
      // A page of a proxy is no answer that costs something.
      broken.isAbandoned = body[0] === OPEN_BRACE;
      throw broken;
    }
    const failed = failedChoice(this.members);
    if (failed) throw errorIn(this.upstream, failed);
    if (isAnswer(this.members, this.#endpoint)) {
      if (!this.usage) this.tokens = tokensIn(this.members, ["choices", "output", "content"]);
      pass(body);
    } else if ((this.members.value("error") ?? undefined) !== undefined) {
      throw errorIn(this.upstream, this.members);
    } else throw new UpstreamError("broken", this.upstream, "sent no answer");
  }
}

const OPEN_BRACE = 0x7b;

/** JSON in the place of a stream. It is always an error, which the JSON may describe. */
export class MissingStream extends WholeAnswer {
  override end(): void {
    super.end(() => {});
    throw new UpstreamError("broken", this.upstream, "sent JSON instead of a stream");
  }
}

/** Endpoints of an upstream, including those that only the gateway itself calls. */
type AnsweringEndpoint = Endpoint | "models" | "held";

/** Whether a response holds an answer of its endpoint. */
function isAnswer(members: Members, endpoint: AnsweringEndpoint): boolean {
  switch (endpoint) {
    case "held":
      return true;
    case "responses":
      return isList(members, "output") && members.value("status") !== "failed";
    case "messages":
      return isList(members, "content");
    case "messages/count_tokens":
      return typeof members.value("input_tokens") === "number";
    default:
      return isList(members, "choices")
        ? !isEmptyList(members, "choices")
        : isList(members, "data");
  }
}

/** The first choice, if all have an error in the place of a message, as OpenRouter sends them. */
function failedChoice(members: Members): Members | undefined {
  const choices = members.find("choices");
  if (!choices) return undefined;
  // A text contains these bytes only with escapes, so nearly all answers need not be parsed.
  if (!members.json.subarray(choices.valueStart, choices.valueEnd).includes('"error"'))
    return undefined;
  const value = members.value("choices");
  const all = Array.isArray(value) ? value : [];
  if (!all.every((choice) => isRecord(choice) && isRecord(choice.error))) return undefined;
  const [first] = all;
  return first && scanObject(Buffer.from(JSON.stringify(first)));
}

function isList(members: Members, name: string): boolean {
  const member = members.find(name);
  return member !== undefined && members.json[member.valueStart] === OPEN_BRACKET;
}

function isEmptyList(members: Members, name: string): boolean {
  let at = members.find(name)!.valueStart + 1;
  while (members.json[at]! <= SPACE) at++;
  return members.json[at] === CLOSE_BRACKET;
}

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** White space of JSON is below or at this byte; no value starts with such a byte. */
const SPACE = 0x20;
