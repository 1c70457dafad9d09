import { expect, it } from "vitest";
import { configured, T0, vote } from "../events.fixture.ts";
import type { VoterWeighed } from "../events.ts";
import { MOST_COUNTED_VOTES } from "../store.ts";
import type { Stores } from "./stores.fixture.ts";

/** Lists of voters, and weights that operators give them. */
export function votersConform({ one, both }: Stores): void {
  const outcome = { outcome: "a" } as const;
  const weighed = (voter: string, weight: number): VoterWeighed => {
    return { kind: "voter_weighed", router: "auto", at: T0 + 99_000, voter, weight };
  };

  it("are listed by name, page by page, with the number and times of their votes", async () => {
    const [store, other] = await both();
    await store.append([
      configured(),
      vote(1, outcome, { voter: "cy" }),
      vote(2, outcome, { voter: "ann" }),
      vote(3, outcome, { voter: "bob" }),
      vote(4, outcome, { voter: "" }),
      vote(5, outcome, { voter: "ann" }),
      vote(6, outcome, { voter: "dan", router: "other" }),
      vote(7, { comment: "good" }, { voter: "ann" }),
      vote(8, { comment: "good" }, { voter: "eve" }),
    ]);
    const timeOf = (n: number) => vote(n).at;
    const voters = [
      { voter: "", votes: 1, first: timeOf(4), last: timeOf(4) },
      { voter: "ann", votes: 2, first: timeOf(2), last: timeOf(5) },
      { voter: "bob", votes: 1, first: timeOf(3), last: timeOf(3) },
      { voter: "cy", votes: 1, first: timeOf(1), last: timeOf(1) },
    ];
    expect(await store.voters({ router: "auto", limit: 10 })).toEqual(voters);
    expect(await other.voters({ router: "auto", limit: 2 })).toEqual(voters.slice(0, 2));
    expect(await store.voters({ router: "auto", from: "ann", limit: 2 })).toEqual(
      voters.slice(1, 3),
    );
    expect(await store.voters({ router: "auto", from: "cz", limit: 2 })).toEqual([]);
    expect(await store.voters({ router: "nothing", limit: 2 })).toEqual([]);
  });

  it("keep their weights in the log, which are not votes", async () => {
    const store = await one();
    await store.append([vote(1), weighed("ann", 0), weighed("zoe", 0.5), weighed("ann", 1)]);
    expect(await store.voters({ router: "auto", limit: 10 })).toEqual([
      { voter: "ann", votes: 1, first: vote(1).at, last: vote(1).at },
      { voter: "zoe", votes: 0 },
    ]);
    expect(await store.controls("auto")).toMatchObject([
      weighed("ann", 0),
      weighed("zoe", 0.5),
      weighed("ann", 1),
    ]);
    for (const name of ["an\nn", "half \ud83d of a pair", "a".repeat(257)]) {
      await expect(store.append([weighed(name, 0)])).rejects.toThrow("is not a valid name");
    }
    await store.append([weighed("\u{1f600}".repeat(256), 0)]);
  });

  it("have at most 10,000 counted votes, whether they were weighed or not", async () => {
    const store = await one();
    const votes = Array.from({ length: MOST_COUNTED_VOTES + 1 }, (_, n) => vote(n, outcome));
    await store.append([...votes, weighed("ann", 0.5), weighed("ann", 0)]);
    const [ann] = await store.voters({ router: "auto", limit: 1 });
    expect(ann).toMatchObject({ voter: "ann", votes: MOST_COUNTED_VOTES });
  });

  it("lose their weights when they are forgotten", async () => {
    const store = await one();
    await store.append([
      vote(1),
      vote(2, outcome, { voter: "bob" }),
      weighed("ann", 0),
      weighed("bob", 0.5),
      weighed("zoe", 0),
      { ...weighed("ann", 0), router: "other" },
    ]);
    expect(await store.forget("auto", "ann", T0)).toBe(1);
    expect(await store.controls("auto")).toMatchObject([
      weighed("bob", 0.5),
      weighed("zoe", 0),
      { kind: "voter_forgotten", votes: 1 },
    ]);
    expect(await store.controls("other")).toHaveLength(1);
    expect(JSON.stringify(await store.logEvents("auto", 0, 10))).not.toContain("ann");
    expect((await store.voters({ router: "auto", limit: 9 })).map(({ voter }) => voter)).toEqual([
      "bob",
      "zoe",
    ]);
    // A voter without votes has a name too.
    expect(await store.forget("auto", "zoe", T0)).toBe(0);
    expect(JSON.stringify(await store.controls("auto"))).not.toContain("zoe");
    const head = await store.head("auto");
    expect(await store.forget("auto", "zoe", T0)).toBe(0);
    expect(await store.head("auto")).toBe(head);
  });
}
