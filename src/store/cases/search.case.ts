import { expect, it } from "vitest";
import { DAY_MS, idsFrom } from "../decision-id.ts";
import { answered, routed, T0, vote } from "../events.fixture.ts";
import type { DecisionEvent } from "../events.ts";
import { seal } from "../seal.ts";
import type { SearchQuery, Store } from "../store.ts";
import type { Stores } from "./stores.fixture.ts";

/** Ids like those of `newDecisionId`, whose numbers are in the order of time. */
function idOf(n: number, at: number): string {
  return `${idsFrom(at)}000-8000-${n.toString(16).padStart(12, "0")}`;
}

/** Request n, with one answer, 5 minutes after request n - 1. */
function request(n: number): DecisionEvent[] {
  const at = T0 + n * 300_000;
  const id = idOf(n, at);
  const outcomes = {
    3: { status: "failed" as const, cost: 0 },
    5: { status: "cancelled" as const },
    7: { fallbacks: [{ model: "ant", reason: "\u0000 \ud800 timeout" }] },
  };
  return [
    routed(n, {
      id,
      at,
      router: n % 2 ? "odd" : "even",
      owner: n % 3 ? "k1" : "k2",
      session: n > 8 ? "late" : undefined,
      pair: ["ant", "ant"],
      prompt: seal(n === 4 ? "Why is the SKY blue?" : "What time is it?", id, undefined),
    }),
    answered(n, 0, {
      decision: id,
      at: at + 500,
      model: n === 6 ? "rare" : "ant",
      cost: n / 1000,
      latencyMs: n * 100,
      ...outcomes[n as keyof typeof outcomes],
    }),
  ];
}

/** Numbers of the requests that a search finds, over as many pages as it takes. */
async function found(
  store: Store,
  query: Omit<SearchQuery, "limit">,
  limit = 3,
): Promise<number[]> {
  const numbers: number[] = [];
  let before: SearchQuery["before"];
  do {
    const { records, next } = await store.search({ ...query, before, limit });
    for (const { decision, answers } of records) {
      expect(answers).toHaveLength(1);
      numbers.push(Number.parseInt(decision.id.slice(-12), 16));
    }
    before = next;
  } while (before);
  return numbers;
}

/** Searching requests by each condition, page by page. */
export function searchConforms({ one }: Stores): void {
  it("finds requests by every condition, newest first, and pages through them", async () => {
    const store = await one();
    // Five requests per day, in the middle of it and around midnight.
    const numbers = Array.from({ length: 12 }, (_, n) => n);
    await store.record(numbers.flatMap(request));
    const id = (n: number) => idOf(n, T0 + n * 300_000);
    await store.append([
      vote(2, { outcome: "a" }, { decision: id(2) }),
      vote(9, { outcome: "tie" }, { decision: id(9) }),
      vote(10, { rating: -1 }, { decision: id(10) }),
      vote(11, { comment: "slow" }, { decision: id(11) }),
    ]);
    const all = numbers.toReversed();
    const cases: [Omit<SearchQuery, "limit">, number[]][] = [
      [{}, all],
      [{ router: "odd" }, [11, 9, 7, 5, 3, 1]],
      [{ owner: "k2" }, [9, 6, 3, 0]],
      [{ session: "late" }, [11, 10, 9]],
      [{ since: T0 + 3 * 300_000, until: T0 + 5 * 300_000 }, [5, 4, 3]],
      [{ model: "rare" }, [6]],
      [{ model: "none" }, []],
      [{ outcome: "failed" }, [3]],
      [{ outcome: "cancelled" }, [5]],
      [{ outcome: "fallback" }, [7]],
      [{ outcome: "ok", router: "odd" }, [11, 9, 1]],
      [{ minCost: 0.0095 }, [11, 10]],
      [{ maxCost: 0.001 }, [3, 1, 0]],
      [{ minLatencyMs: 1000, model: "ant" }, [11, 10]],
      [{ maxLatencyMs: 100 }, [1, 0]],
      [{ vote: "any" }, [11, 10, 9, 2]],
      [{ vote: "none", minLatencyMs: 800 }, [8]],
      [{ vote: "first" }, [2]],
      [{ vote: "tie" }, [9]],
      [{ vote: "bad" }, [10]],
      [{ vote: "good" }, []],
      [{ vote: "comment" }, [11]],
      [{ text: "sky BLUE" }, [4]],
      [{ text: "sky green" }, []],

      [{ text: "time", router: "odd", model: "ant" }, [11, 9, 7, 5, 3, 1]],
    ];
    for (const [query, expected] of cases) {
      expect([query, await found(store, query)]).toEqual([query, expected]);
    }
  });

  it("tells nothing about the answers of duels whose models are hidden", async () => {
    const store = await one();
    const at = (n: number) => T0 + 2 * DAY_MS + n;
    const id = (n: number) => idOf(n, at(n));
    const single = (n: number, model: string) => [
      routed(n, { id: id(n), at: at(n), pair: [model, model] }),
      answered(n, 0, { decision: id(n), at: at(n), model }),
    ];
    const duel = (n: number) => [
      routed(n, { id: id(n), at: at(n), pair: ["ant", "dog"] }),
      answered(n, 0, { decision: id(n), at: at(n), model: "ant", cost: 1, latencyMs: 9000 }),
      answered(n, 1, { decision: id(n), at: at(n), model: "dog" }),
    ];
    const from = (first: number, count: number) =>
      Array.from({ length: count }, (_, i) => first + i);
    // Ants and cats are as frequent as each other: few on this day, unless the duels count too.
    await store.record([
      ...from(0, 1990).flatMap((n) => single(n, n % 2 ? "ant" : "cat")),
      ...from(1990, 10_000).flatMap((n) => single(n, "bee")),
      ...from(11_990, 10).flatMap(duel),
    ]);
    const search = async (model: string, limit: number) => {
      const { records, next } = await store.search({ model, limit, exceptHidden: true });
      return [records.map(({ decision }) => at(1990) - decision.at), next && at(1990) - next.at];
    };
    expect(await search("cat", 2)).toEqual([[2, 4], 4]);
    expect(await search("ant", 2)).toEqual([[1, 3], 3]);
    const hidden = { limit: 1, exceptHidden: true };
    expect(await store.search({ model: "dog", ...hidden })).toEqual({ records: [] });
    expect(await store.search({ minLatencyMs: 8000, ...hidden })).toEqual({ records: [] });
    const found = async (model: string) =>
      (await store.search({ model, ...hidden })).records.map(({ decision }) => decision.id);
    // A judge's vote shows no models.
    const judge = { source: "judge", voter: "judge:good" } as const;
    await store.append([vote(0, { outcome: "a" }, { decision: id(11_995), ...judge })]);
    expect(await found("dog")).toEqual([]);
    await store.append([vote(1, { outcome: "a" }, { decision: id(11_995) })]);
    expect([await found("dog"), await found("ant")]).toEqual([[id(11_995)], [id(11_995)]]);
  });

  it("examines a limited number of requests and says where to continue", async () => {
    const store = await one();
    const at = (n: number) => T0 + DAY_MS + n;
    const many = Array.from({ length: 12_000 }, (_, n) =>
      routed(n, { id: idOf(n, at(n)), at: at(n), prompt: seal(`prompt ${n}.`, "", undefined) }),
    );
    for (let i = 0; i < many.length; i += 1000) await store.record(many.slice(i, i + 1000));
    const query = { text: "prompt 1.", limit: 10 };
    const first = await store.search(query);
    expect(first).toMatchObject({ records: [], next: { at: at(2000) } });
    const second = await store.search({ ...query, before: first.next });
    expect(second.records.map(({ decision }) => decision.at)).toEqual([at(1)]);
    expect(second.next).toBeUndefined();
  });
}
