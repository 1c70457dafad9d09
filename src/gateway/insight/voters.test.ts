import { expect, it } from "vitest";
import { JoustClient } from "../../client/client.ts";
import { chat, SANDBOX, startGateway } from "../gateway.fixture.ts";

const DUEL = { joust: { duel: true } };

/** A gateway whose voters have cast some votes each. Each vote is learned before the next request is routed. */
async function withVoters(yaml: string, votes: Readonly<Record<string, number>>) {
  const gateway = await startGateway(yaml);
  const { post, store } = gateway;
  const client = new JoustClient({ baseUrl: gateway.url });
  const learned = async () => {
    const behind = async () =>
      (await store.head("auto")) - (await client.stats()).posterior_version;
    await expect.poll(behind, { timeout: 60_000 }).toBe(0);
    const { categories } = (await client.stats()).leaderboard;
    return categories.map(({ models }) => models.map(({ model, value, sd }) => [model, value, sd]));
  };
  for (const [voter, count] of Object.entries(votes)) {
    for (let n = 0; n < count; n++) {
      const { json } = await post("/v1/chat/completions", chat(`Why is ${voter} right?`, DUEL));
      await post("/v1/feedback", { id: json.id, winner: 0, ...(voter !== "" && { voter }) });
      await learned();
    }
  }
  return { ...gateway, client, learned };
}

it("voters are listed page by page, without estimates if the router does not weigh them", async () => {
  const { client, store } = await withVoters(SANDBOX, { "": 1, ann: 2, bob: 1 });
  const first = await client.routerVoters("auto", { limit: 2 });
  expect(first).toMatchObject({
    router: "auto",
    weigh_voters: false,
    frozen_at: null,
    next: "bob",
  });
  expect(first.data).toMatchObject([
    { voter: "", kind: "unnamed", votes: 1, weight: 1 },
    {
      voter: "ann",
      kind: "person",
      votes: 2,
      weight: 1,
      weight_set_at: null,
      reliability: null,
      agreement: null,
      scale: null,
    },
  ]);
  const { first_vote_at: since, last_vote_at: last } = first.data[1]!;
  const events = await store.logEvents("auto", 0, 10);
  const votes = events.filter((event) => event.kind === "voted" && event.voter === "ann");
  expect([since, last]).toEqual(votes.map(({ at }) => new Date(at).toISOString()));
  const second = await client.routerVoters("auto", { from: "bob", limit: 2 });
  expect(second).toMatchObject({ data: [{ voter: "bob" }], next: null });
  await client.freeze("auto");
  const [frozen] = (await store.controls("auto")).filter(({ kind }) => kind === "frozen");
  const at = new Date(frozen!.at).toISOString();
  expect((await client.routerVoters("auto")).frozen_at).toBe(at);
  await client.thaw("auto");
  expect((await client.routerVoters("auto")).frozen_at).toBeNull();
  await expect(client.routerVoters("nothing")).rejects.toMatchObject({ status: 404 });
});

it("voters have the reliability that the learner estimates, and judges their scale", async () => {
  const { client, store, learned } = await withVoters(
    `${SANDBOX}\nrouters: {auto: {weigh_voters: true}}`,
    { ann: 3 },
  );
  const [vote] = (await store.logEvents("auto", 0, 10)).filter(({ kind }) => kind === "voted");
  await store.append([
    { ...vote!, voter: "judge:m", source: "judge", decision: "of-the-judge" } as typeof vote & {},
  ]);
  await learned();
  const { data } = await client.routerVoters("auto");
  const [ann, judge] = data;
  expect(ann).toMatchObject({ voter: "ann", kind: "person", scale: null });
  expect(ann!.agreement!.votes).toBeGreaterThan(0);
  expect(ann!.agreement!.share).toBeGreaterThanOrEqual(0);
  expect(ann!.reliability).toBeGreaterThan(0);
  expect(judge).toMatchObject({ voter: "judge:m", kind: "judge", reliability: null });
  expect(judge!.scale!.lo).toBeLessThan(judge!.scale!.hi);
});

it("an excluded voter teaches nothing until included again; the audit log names the voter until the voter is forgotten", async () => {
  const { client, learned } = await withVoters(SANDBOX, { ann: 2, mallory: 3 });
  const taught = await learned();
  const weigh = (weight: number) => client.weighVoter("auto", { voter: "mallory", weight });
  expect(await weigh(0)).toEqual({ router: "auto", voter: "mallory", weight: 0, before: 1 });
  const without = await learned();
  expect(without).not.toEqual(taught);
  const mallory = async () => (await client.routerVoters("auto", { from: "mallory" })).data[0]!;
  expect(await mallory()).toMatchObject({ votes: 3, weight: 0 });
  expect(Date.parse((await mallory()).weight_set_at!)).toBeGreaterThan(0);
  expect(await weigh(0.5)).toMatchObject({ before: 0 });
  expect(await learned()).not.toEqual(without);
  await weigh(1);
  await weigh(1);
  expect(await learned()).toEqual(taught);
  const changes = async () => (await client.audit()).data;
  expect(await changes()).toMatchObject(
    [
      [0.5, 1],
      [0, 0.5],
      [1, 0],
    ].map(([before, after]) => ({
      action: "router.weigh",
      target: "auto",
      before: { weight: before },
      after: { weight: after, voter: "mallory" },
    })),
  );
  await expect(weigh(2)).rejects.toMatchObject({ status: 400 });
  const unknown = client.weighVoter("auto", { voter: "nobody", weight: 0 });
  await expect(unknown).rejects.toMatchObject({ status: 400, param: "voter" });
  expect(await client.forget("auto", { voter: "mallory" })).toMatchObject({ forgotten: 3 });
  expect(await learned()).toEqual(without);
  expect(JSON.stringify(await changes())).not.toContain("mallory");
  expect((await client.routerVoters("auto")).data.map(({ voter }) => voter)).toEqual(["ann"]);
});
