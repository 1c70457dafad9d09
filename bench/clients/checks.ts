import { isDeepStrictEqual } from "node:util";
import type { DialectName } from "../../src/gateway/wire/dialect-names.ts";
import {
  type Cell,
  finalText,
  imageText,
  MAX_TOKENS,
  objectOf,
  piecesOf,
  plainText,
  refusalText,
  SYSTEM,
  secondText,
  UNKNOWN_MODEL,
  USAGE,
} from "./cells.ts";
import type { Received } from "./upstream/upstream.ts";

/** The result that the script of a client returned for a cell. */
export interface Returned {
  readonly value?: Readonly<Record<string, unknown>>;
  /** The client failed with this error. */
  readonly error?: string;
}

export interface CellRun {
  readonly cell: Cell;
  readonly nonce: string;
  /** Dialect of the upstream. */
  readonly upstream: DialectName;
  readonly returned: Returned | undefined;
  /** Requests that carried the nonce, and refused requests, whose nonce may be unknown. */
  readonly received: readonly Received[];
  /** Whether the client sends prompts and requests of its own. */
  readonly isAgent: boolean;
  /** Whether the client gives objects where others give texts. */
  readonly givesObjects: boolean;
  /** Members of the result that are not compared. */
  readonly unchecked: readonly string[];
}

/** The first problem of a run, or undefined if there is none. */
export async function problemOf(run: CellRun): Promise<string | undefined> {
  const { cell, returned, received, upstream, isAgent } = run;
  const refused = received.find(({ problem }) => problem !== undefined);
  if (refused) return `the upstream refused: ${refused.problem}`;
  if (!returned) return "the client returned nothing";
  if (returned.error !== undefined) return `the client failed: ${returned.error}`;
  const expected = Object.fromEntries(
    Object.entries(expectedOf(run)).filter(([name]) => !run.unchecked.includes(name)),
  );
  const different = differenceOf(returned.value ?? {}, expected);
  if (different) return `the client returned ${different}`;
  if (received.some(({ dialect }) => dialect !== upstream)) return "another upstream was called";
  const hasTwo = cell === "second" || (cell === "usage" && Object.keys(expected).length > 1);
  const least = cell === "tools" ? 4 : hasTwo ? 2 : 1;
  if (received.length < least) return `only ${received.length} requests arrived`;
  if (!isAgent && cell === "tools" && received.length !== 4) return "a step was repeated";
  const problem = isAgent ? undefined : problemInRequests(run);
  if (problem) return problem;
  if (cell === "abort") {
    const complete = await Promise.all(received.map(({ closed }) => closed));
    if (complete.includes(true)) return "the answer was completed although the client had left";
  }
  return undefined;
}

function expectedOf({ cell, nonce, isAgent, givesObjects }: CellRun): Expected {
  const { text, ...rest } = EXPECTED[cell](nonce, isAgent);
  if (text === undefined) return rest;
  return givesObjects ? { object: objectOf(nonce), ...rest } : { text, ...rest };
}

function problemInRequests({ cell, received }: CellRun): string | undefined {
  for (const { request } of received) {
    if (!request?.system.includes(SYSTEM)) return `the system prompt became "${request?.system}"`;
    const isLimited = cell === "plain" || cell === "stream";
    if (isLimited && request.maxTokens !== MAX_TOKENS) return `the limit is ${request.maxTokens}`;
    if ((cell === "stream" || cell === "abort") && !request.stream) return "stream got lost";
    if (cell === "plain" && request.stream) return "a stream was requested";
  }
  return undefined;
}

type Expected = Readonly<Record<string, unknown>>;

/** More than one. */
const SEVERAL: Condition = {
  wanted: "2 or more",
  holds: (value) => typeof value === "number" && value >= 2,
};

const EXPECTED: Readonly<Record<Cell, (nonce: string, isAgent: boolean) => Expected>> = {
  plain: (nonce) => ({ text: plainText(nonce) }),
  stream: (nonce) => ({ text: piecesOf(nonce).join(""), pieces: SEVERAL }),
  tools: (nonce) => ({ text: finalText(nonce, "62.6 F") }),
  second: (nonce) => ({ text: secondText(nonce) }),
  structured: (nonce) => ({ object: objectOf(nonce) }),
  image: (nonce) => ({ text: imageText(nonce) }),
  usage: () => ({ plain: USAGE, stream: USAGE }),
  abort: (nonce) => ({ text: piecesOf(nonce)[0] }),
  error: (nonce, isAgent) => {
    // Commands print a message, not always with a status.
    const failure = (status: number, text: string) => ({
      ...(!isAgent && { status }),
      message: { wanted: text, holds: (value: unknown) => String(value).includes(text) },
    });
    return {
      refused: failure(400, refusalText(nonce)),
      streamed: failure(400, refusalText(nonce)),
      unknown: failure(404, UNKNOWN_MODEL),
    };
  },
};

/** A condition in place of a value. */
interface Condition {
  readonly wanted: string;
  readonly holds: (value: unknown) => boolean;
}

function isCondition(value: unknown): value is Condition {
  return isObject(value) && "holds" in value;
}

function isObject(value: unknown): value is Expected {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first member of `actual` that is not as expected. Members that are not expected are ignored. */
function differenceOf(actual: Expected, expected: Expected, path = ""): string | undefined {
  for (const [key, wanted] of Object.entries(expected)) {
    const got = actual[key];
    if (isCondition(wanted) ? wanted.holds(got) : isDeepStrictEqual(got, wanted)) continue;
    if (isObject(wanted) && !isCondition(wanted) && isObject(got)) {
      const inner = differenceOf(got, wanted, `${path}${key}.`);
      if (inner) return inner;
      continue;
    }
    const expected = isCondition(wanted) ? wanted.wanted : JSON.stringify(wanted);
    return `${path}${key} = ${JSON.stringify(got)} instead of ${expected}`;
  }
  return undefined;
}
