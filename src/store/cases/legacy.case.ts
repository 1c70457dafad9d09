import { expect } from "vitest";
import { DAY_MS } from "../decision-id.ts";
import { answered, configured, routed, T0, vote } from "../events.fixture.ts";
import type { LogEvent } from "../events.ts";
import { rowOf } from "../row.ts";
import { seal } from "../seal.ts";
import type { Store } from "../store.ts";
import { bytesOf } from "../vector.ts";

/** A row of the log of version 0.1. */
export interface OldRow {
  readonly position: number;
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

const NONE = { decision: null, slot: null, voter: null, owner: null, session: null, x: null };

/** The log of version 0.1 with this many decisions, each with an answer, and a vote on every tenth. */
export function* oldRows(decisions: number): Generator<OldRow> {
  let position = 0;
  const log = (event: LogEvent): OldRow => {
    const { router, kind, at, decision, voter, x, body } = rowOf(event);
    return { ...NONE, position: ++position, router, kind, at, decision, voter, x, body };
  };
  yield log(configured());
  for (let n = 0; n < decisions; n++) {
    const { id, router, at, x, kind, owner, session, ...body } = decisionOf(n);
    const row = { position: ++position, router, kind, at, decision: id, x: bytesOf(x) };
    yield {
      ...NONE,
      ...row,
      owner: owner ?? null,
      session: session ?? null,
      body: JSON.stringify(body),
    };
    const { kind: answer, router: _, decision, slot, ...rest } = answerOf(n);
    const common = { position: ++position, router, kind: answer, at: rest.at, decision, slot };
    yield { ...NONE, ...common, body: JSON.stringify(rest) };
    if (n % 10 === 0) yield log(voteOf(n));
  }
  yield {
    ...NONE,
    position: ++position,
    router: "auto",
    kind: "voter_forgotten",
    at: T0,
    body: JSON.stringify({ voter: "mallory" }),
  };
}

const atOf = (n: number) => T0 + n * 60_000;
const decisionOf = (n: number) =>
  routed(n, { at: atOf(n), owner: "k1", ...(n % 7 === 0 && { session: `s${n}` }) });
/** Every 50th answer ends on the day after its decision. */
const answerOf = (n: number) => answered(n, 0, { at: atOf(n) + (n % 50 === 0 ? DAY_MS : 500) });
const voteOf = (n: number) => {
  const { decided: _, propensity: __, version: ___, ...vote2 } = vote(n, { outcome: "b" });
  return { ...vote2, voter: n % 30 === 0 ? "mallory" : "ann" };
};

/** The sealed prompt that version 0.1 has stored for some decisions. */
export function oldPrompt(n: number): Uint8Array | undefined {
  return n % 5 === 0 ? seal(`prompt ${n}`, `d${n}`, undefined) : undefined;
}

/** Opens a database of version 0.1 with this many decisions and expects that all of them are readable in the end. */
export async function convertsLegacy(open: () => Promise<Store>, decisions: number): Promise<void> {
  const first = await open();
  // The newest decisions are there at once; those that are not moved yet are not "unknown".
  expect((await first.decision(`d${decisions - 1}`))!.answers).toHaveLength(1);
  if (decisions > 1000) await expect(first.decision("d1")).rejects.toThrow(/being moved/);
  await first.append([vote(decisions + 1)]);
  // Interrupted: the next start continues.
  await first.close();
  const store = await open();
  await store.migrated();
  const votes = Math.ceil(decisions / 10) - Math.ceil(decisions / 30);
  const events = await store.logEvents("auto", 0, decisions);
  expect(events).toHaveLength(votes + 3);
  expect(JSON.stringify(events)).not.toContain("mallory");
  const old = [...oldRows(decisions)];
  const kept = old.filter((row) => row.kind === "voted" && row.voter !== "mallory");
  expect(events.slice(1, -2)).toMatchObject(
    kept.map(({ position, decision, at }) => ({
      position,
      decision,
      at,
      verdict: { outcome: "b" },
    })),
  );
  expect(await store.head("auto")).toBeGreaterThan(old.at(-1)!.position);
  let count = 0;
  for (let after: { at: number; id: string } | undefined; ; ) {
    const page = await store.routed({ router: "auto", after, limit: 500 });
    if (page.length === 0) break;
    for (const decision of page) expect(decision).toEqual(decisionOf(count++));
    after = page.at(-1)!;
  }
  expect(count).toBe(decisions);
  const record = (await store.decision("d0"))!;
  expect(record.answers).toEqual([answerOf(0)]);
  expect(Buffer.from((await store.prompt("d0"))!)).toEqual(Buffer.from(oldPrompt(0)!));
  expect(await store.prompt("d1")).toBeUndefined();
  expect(await store.decision("missing")).toBeUndefined();
  await store.close();
}
