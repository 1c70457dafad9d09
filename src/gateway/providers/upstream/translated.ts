import { randomUUID } from "node:crypto";
import { createParser } from "eventsource-parser";
import { ThreadEnded } from "../../../core/threads/thread.ts";
import { Untranslatable } from "../../codecs/items/unsupported.ts";
import { NO_USAGE } from "../../codecs/messages/answer.ts";
import { ALIVE, type Sides, StreamTranslator, translateAnswer } from "../../codecs/translate.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import { exactJson } from "../../wire/exact.ts";
import { editMembers, type Json, type Members } from "../../wire/json.ts";
import { UpstreamError } from "./error.ts";
import { tokensOfBytes } from "./text-tokens.ts";
import type { Translator } from "./translator.ts";
import {
  type Adaptation,
  DIALECT_OF,
  type Pass,
  type Translation,
  type UpstreamRequest,
} from "./upstream.ts";
import type { Usage } from "./usage.ts";

/** Translates an answer to the client's dialect after another translation has checked it. */
abstract class Translated implements Translation {
  protected readonly checked: Translation;

  constructor(checked: Translation) {
    this.checked = checked;
  }

  get usage(): Usage | undefined {
    return this.checked.usage;
  }
  get events(): number {
    return this.checked.events;
  }
  get tokens(): number | undefined {
    return this.checked.tokens;
  }
  get isDone(): boolean {
    return this.checked.isDone;
  }
  /** The scanned members are the upstream's. */
  get members(): Members | undefined {
    return undefined;
  }

  abstract push(chunk: Buffer, pass: Pass): void;
  abstract end(pass: Pass): void;
}

class TranslatedAnswer extends Translated {
  readonly #sides: Sides;

  constructor(checked: Translation, sides: Sides) {
    super(checked);
    this.#sides = sides;
  }

  push(chunk: Buffer, pass: Pass): void {
    this.checked.push(chunk, pass);
  }

  end(pass: Pass): void {
    this.checked.end((bytes) => {
      const body = exactJson(Buffer.from(bytes).toString()) as Json;
      pass(Buffer.from(JSON.stringify(translateAnswer(body, this.#sides))));
    });
  }
}

class TranslatedStream extends Translated {
  readonly #translator: StreamTranslator;
  readonly #decoder = new TextDecoder();
  /** Events for the client that were written and not passed on yet. */
  #out = "";
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      this.#out += this.#translator.push(data);
    },
    onComment: () => {
      this.#out += ALIVE;
    },
  });

  constructor(checked: Translation, sides: Sides) {
    super(checked);
    this.#translator = new StreamTranslator(sides);
  }

  push(chunk: Buffer, pass: Pass): void {
    try {
      this.checked.push(chunk, this.#read);
    } finally {
      // If the check throws, the events before are passed on as well.
      this.#flush(pass);
    }
  }

  end(pass: Pass): void {
    this.checked.end(this.#read);
    this.#out += this.#translator.end();
    this.#flush(pass);
  }

  readonly #read = (bytes: Uint8Array): void => {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
  };

  #flush(pass: Pass): void {
    if (this.#out !== "") pass(Buffer.from(this.#out));
    this.#out = "";
  }
}

interface Target {
  /** Name of the upstream, for errors. */
  readonly name: string;
  readonly dialect: DialectName;
  readonly requestsUsage: boolean;
  /** Returns the present time in seconds since 1970. */
  readonly now: () => number;
}

/**
 * Translates a request to a dialect that the upstream speaks. `answer` translates the answer after the
 * given translation has checked it. Throws UpstreamError if the request cannot be translated.
 */
export async function translated(
  request: UpstreamRequest,
  target: Target,
  translator: Pick<Translator, "translate">,
) {
  const { stream, model, body, adapt, strict, schemas, origin = model } = request;
  const client = DIALECT_OF[request.endpoint]!;
  const { dialect: upstream, requestsUsage, now } = target;
  const created = now();
  const route = { from: client, to: upstream, model, origin, requestsUsage, strict, schemas };
  const own = await translator.translate(body, route).catch((error: unknown) => {
    throw translationError(target.name, error);
  });
  const usage = stream ? { ...NO_USAGE, promptTokens: tokensOfBytes(body.length) } : undefined;
  const sides: Sides = {
    upstream,
    client,
    request: own.request,
    answerTool: own.answerTool,
    namespaces: own.namespaces,
    names: own.names,
    model: origin,
    head: { created, now, newId: randomUUID, usage },
  };
  const edits = adapt?.(upstream, own.members);
  return {
    body: edits ? editMembers(own.members, edits) : own.members.json,
    adapted: own.leftOut.map((type): Adaptation => ({ param: `tools.${type}`, change: "dropped" })),
    answer: (checked: Translation): Translation =>
      stream ? new TranslatedStream(checked, sides) : new TranslatedAnswer(checked, sides),
  };
}

/** Converts an error of the translation: of a request that cannot be translated, or of a translating thread that ended. */
export function translationError(upstream: string, error: unknown): unknown {
  if (error instanceof ThreadEnded)
    return new UpstreamError("unreachable", upstream, error.message);
  if (!(error instanceof Untranslatable)) return error;
  const problem = `does not support the request: ${error.message}`;
  return new UpstreamError("request", upstream, problem, { param: error.param });
}
