import { invalidValue } from "../core/errors/joust-error.ts";
import type { Event, Logged } from "./events.ts";
import { bytesOf, vectorOf } from "./vector.ts";

/** An event as both databases store it: searchable fields in columns, the rest as JSON in `body`. */
export interface Row extends Columns {
  readonly router: string;
  readonly kind: string;
  readonly at: number;
  readonly body: string;
}

/** Columns that only some kinds of events use. */
interface Columns {
  readonly decision: string | null;
  readonly slot: number | null;
  readonly voter: string | null;
  readonly owner: string | null;
  readonly session: string | null;
  readonly x: Uint8Array | null;
}

export type LoggedRow = Row & { readonly position: number };

const UNUSED: Columns = {
  decision: null,
  slot: null,
  voter: null,
  owner: null,
  session: null,
  x: null,
};

export function rowOf(event: Event): Row {
  switch (event.kind) {
    case "routed": {
      const { kind, router, at, id, owner, session, x, prompt: _, ...body } = event;
      return {
        ...UNUSED,
        router,
        kind,
        at,
        decision: checkName("decision", id),
        owner: owner ?? null,
        // PostgreSQL refuses NUL in text. The session is the client's own text, so NUL is removed.
        session: session?.replaceAll("\u0000", "") ?? null,
        x: bytesOf(x),
        body: JSON.stringify(body),
      };
    }
    case "answered": {
      const { kind, router, at, decision: id, slot, owner = null, ...body } = event;
      const decision = checkName("decision", id);
      return { ...UNUSED, router, kind, at, decision, slot, owner, body: JSON.stringify(body) };
    }
    case "voted": {
      const { kind, router, at, decision: id, voter: name, x: vector, ...body } = event;
      const decision = checkName("decision", id);
      const voter = name === "" ? name : checkName("voter", name);
      const x = bytesOf(vector);
      return { ...UNUSED, router, kind, at, decision, voter, x, body: JSON.stringify(body) };
    }
    default: {
      const { kind, router, at, ...body } = event;
      return { ...UNUSED, router, kind, at, body: JSON.stringify(body, packArrays) };
    }
  }
}

/** Reads a row back. The caller selected rows of one kind and therefore knows the type E. */
export function eventOf<E extends Pick<Event, "kind">>(row: LoggedRow): Logged<E> {
  const { position, kind, router, at, decision, slot, voter, owner, session, x, body } = row;
  const event: unknown = {
    ...(JSON.parse(body, unpackArrays) as object),
    // Columns come last: they win over a field of the same name in the body.
    position,
    kind,
    router,
    at,
    ...(decision !== null && (kind === "routed" ? { id: decision } : { decision })),
    ...(slot !== null && { slot }),
    ...(voter !== null && { voter }),
    ...(owner !== null && { owner }),
    ...(session !== null && { session }),
    ...(x !== null && { x: vectorOf(x) }),
  };
  return Object.freeze(event as Logged<E>);
}

/** Stores Float64Array as base64, because JSON has no typed arrays and no NaN. */
function packArrays(_key: string, value: unknown): unknown {
  if (!(value instanceof Float64Array)) return value;
  const { buffer, byteOffset, byteLength } = value;
  return { [FLOATS]: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

function unpackArrays(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !(FLOATS in value)) return value;
  return new Float64Array(Uint8Array.from(Buffer.from(String(value[FLOATS]), "base64")).buffer);
}

const FLOATS = "$float64";

/** Returns a name of 1 to 256 characters without control characters, and throws otherwise. */
export function checkName(what: string, name: string): string {
  // A loop instead of a pattern, because the linter forbids control characters in patterns.
  let isValid = name.length > 0 && name.length <= 256;
  for (let i = 0; isValid && i < name.length; i++) isValid = name.charCodeAt(i) > 0x1f;
  if (isValid) return name;
  throw invalidValue(
    `${what} ${JSON.stringify(name.slice(0, 40))} is not a valid name`,
    "use 1 to 256 characters and no control characters",
  );
}
