import type { Event, Logged } from "./events.ts";
import { bytesOf, vectorOf } from "./vector.ts";

/** An event as both databases keep it: what is searched for in columns, the rest as JSON. */
export interface Row {
  readonly router: string;
  readonly kind: string;
  readonly at: number;
  readonly decision: string | null;
  readonly slot: number | null;
  readonly voter: string | null;
  readonly owner: string | null;
  readonly session: string | null;
  readonly x: Uint8Array | null;
  readonly body: string;
}

export type LoggedRow = Row & { readonly position: number };

/** Columns that a row of this kind does not use. */
const NOTHING = { decision: null, slot: null, voter: null, owner: null, session: null, x: null };

export function rowOf(event: Event): Row {
  switch (event.kind) {
    case "routed": {
      const { kind, router, at, decision, owner, session, x, prompt: _, ...body } = event;
      return {
        ...NOTHING,
        router,
        kind,
        at,
        decision: checkName("decision", decision),
        owner: owner ?? null,
        // A client's own words, and no reason to lose the decision: PostgreSQL knows no NUL in a text.
        session: session?.replaceAll("\u0000", "") ?? null,
        x: bytesOf(x),
        body: JSON.stringify(body),
      };
    }
    case "answered": {
      const { kind, router, at, decision, slot, owner, ...body } = event;
      return {
        ...NOTHING,
        router,
        kind,
        at,
        decision: checkName("decision", decision),
        slot,
        owner: owner ?? null,
        body: JSON.stringify(body),
      };
    }
    case "voted": {
      const { kind, router, at, decision, voter, x, ...body } = event;
      return {
        ...NOTHING,
        router,
        kind,
        at,
        decision: checkName("decision", decision),
        voter: voter === "" ? voter : checkName("voter", voter),
        x: bytesOf(x),
        body: JSON.stringify(body),
      };
    }
    default: {
      const { kind, router, at, ...body } = event;
      return { ...NOTHING, router, kind, at, body: JSON.stringify(body, packArrays) };
    }
  }
}

/** Whoever asks knows what kinds the rows are of. */
export function eventOf<E extends Pick<Event, "kind">>(row: LoggedRow): Logged<E> {
  const { position, kind, router, at, body } = row;
  const rest = JSON.parse(body, unpackArrays) as object;
  // The columns last: they are what counts, whatever the event was when it was sent.
  const event: unknown = { ...rest, position, kind, router, at, ...columnsOf(row) };
  return Object.freeze(event as Logged<E>);
}

function columnsOf({ decision, slot, voter, owner, session, x }: LoggedRow): object {
  return {
    ...(decision !== null && { decision }),
    ...(slot !== null && { slot }),
    ...(voter !== null && { voter }),
    ...(owner !== null && { owner }),
    ...(session !== null && { session }),
    ...(x !== null && { x: vectorOf(x) }),
  };
}

/** JSON has neither NaN nor arrays of bytes, and a pool needs both. */
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

/** PostgreSQL knows no NUL in a text, and nobody needs other control characters in a name. */
export function checkName(what: string, name: string): string {
  // biome would rather have no control characters in a pattern; a loop says the same.
  let fine = name.length > 0 && name.length <= 256;
  for (let i = 0; fine && i < name.length; i++) fine = name.charCodeAt(i) > 0x1f;
  if (fine) return name;
  throw new RangeError(
    `${what} ${JSON.stringify(name.slice(0, 40))} is no name; help: 1 to 256 characters, none of them a control character`,
  );
}
