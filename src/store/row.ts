import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { invalidValue } from "../core/errors/joust-error.ts";
import type { Control, LogEvent, Logged, Voted, VoterWeighed } from "./events.ts";
import { bytesOf, vectorOf } from "./vector.ts";

/** An event of the log as both databases store it: searchable fields in columns, the rest as JSON in `body`. */
export interface Row {
  readonly router: string;
  readonly kind: string;
  readonly at: number;
  /** Id of the decision that a vote is about; null for controls. */
  readonly decision: string | null;
  /** Ballot of a vote; null for controls. A decision has at most one vote of each ballot. */
  readonly ballot: string | null;
  /** Name of the voter who has voted or was weighed; null for other controls. */
  readonly voter: string | null;
  readonly x: Uint8Array | null;
  readonly body: string;
}

export type LoggedRow = Row & { readonly position: number };

export function rowOf(event: LogEvent): Row {
  if (event.kind !== "voted") {
    const { kind, router, at, voter: name = null, ...body } = event as Control & Named;
    const voter = name === null || name === "" ? name : checkName("voter", name);
    const unused = { decision: null, ballot: null, x: null };
    return { router, kind, at, voter, ...unused, body: JSON.stringify(body, packArrays) };
  }
  const { kind, router, at, decision: id, voter: name, x: vector, ...body } = event;
  const decision = checkName("decision", id);
  const voter = name === "" ? name : checkName("voter", name);
  // A token is the ballot of the unnamed voter, whatever name the voter gives.
  const own = event.byToken ? "voter:" : `voter:${voter}`;
  const ballot = `${ballotPrefix(event)}${own}`;
  const x = bytesOf(vector);
  return { router, kind, at, decision, ballot, voter, x, body: JSON.stringify(body) };
}

/** The name of a voter, which some controls have. */
type Named = Partial<Pick<VoterWeighed, "voter">>;

/**
 * Votes with different prefixes are different ballots: each metric is one, and so is each text of
 * a comment by key. A token allows one comment.
 */
function ballotPrefix({ verdict, metric, byToken }: Voted): string {
  if (metric) return `metric:${metric.name} `;
  if (!("comment" in verdict)) return "";
  if (byToken) return COMMENT_PREFIX;
  const hash = createHash("sha256").update(verdict.comment).digest("base64url");
  return `${COMMENT_PREFIX}${hash.slice(0, 22)} `;
}

/** Start of the ballot of a comment. */
export const COMMENT_PREFIX = "comment:";

/** Reads a row back. The caller selected rows of one kind and therefore knows the type E. */
export function eventOf<E extends Pick<LogEvent, "kind">>(
  row: Omit<LoggedRow, "x" | "ballot"> & Partial<Pick<Row, "x">>,
): Logged<E> {
  const { position, kind, router, at, decision, voter, x, body } = row;
  const event: unknown = {
    ...(JSON.parse(body, unpackArrays) as object),
    // Columns come last: they win over a field of the same name in the body.
    position,
    kind,
    router,
    at,
    ...(decision !== null && { decision }),
    ...(voter !== null && { voter }),
    ...(x && { x: vectorOf(x) }),
  };
  return Object.freeze(event as Logged<E>);
}

/** Checksum (CRC-32) of a row with its position, which shows whether the file was damaged. */
export function checksumOf(row: LoggedRow): number {
  const { position, router, kind, at, decision, ballot, voter, x, body } = row;
  const text = JSON.stringify([position, router, kind, at, decision, ballot, voter, body]);
  return crc32(x ?? "", crc32(text));
}

/** Stores Float64Array as base64, because JSON has no typed arrays and no NaN. */
function packArrays(_key: string, value: unknown): unknown {
  return value instanceof Float64Array ? packFloats(value) : value;
}

/** A Float64Array as JSON stores it. */
export function packFloats({ buffer, byteOffset, byteLength }: Float64Array): object {
  return { [FLOATS]: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

/** Reads what `packArrays` has written. */
export function unpackArrays(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !(FLOATS in value)) return value;
  return new Float64Array(Uint8Array.from(Buffer.from(String(value[FLOATS]), "base64")).buffer);
}

const FLOATS = "$float64";

/**
 * Returns a name of 1 to 256 characters without control characters, and throws otherwise. A half of a
 * surrogate pair is refused, because databases would store another character.
 */
export function checkName(what: string, name: string): string {
  const isShort = name.length <= 256 || (name.length <= 512 && [...name].length <= 256);
  let isValid = name.length > 0 && isShort && name.isWellFormed();
  // A loop instead of a pattern, because the linter forbids control characters in patterns.
  for (let i = 0; isValid && i < name.length; i++) isValid = name.charCodeAt(i) > 0x1f;
  if (isValid) return name;
  throw invalidValue(
    `${what} ${JSON.stringify(name.slice(0, 40))} is not a valid name`,
    "use 1 to 256 characters and no control characters",
  );
}
