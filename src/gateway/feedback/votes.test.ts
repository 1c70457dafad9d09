import { describe, expect, it, onTestFinished, vi } from "vitest";
import { newDecisionId } from "../../store/decision-id.ts";
import type { Logged, Voted } from "../../store/events.ts";
import { StoreUnavailable } from "../../store/store-error.ts";
import { chat, newFolder, SANDBOX, startGateway, type TestGateway } from "../gateway.fixture.ts";
import { receiveVote, type VoteParts } from "./votes.ts";

const DUEL = { joust: { duel: true } };
const never = () => new Promise<never>(() => {});

interface Note {
  readonly decision_id: string;
  readonly vote_token: string;
}

async function ask({ post }: TestGateway, options = DUEL): Promise<Note> {
  return (await post("/v1/chat/completions", chat("Why is it so?", options))).json.joust;
}

async function votesOf({ store }: TestGateway): Promise<Logged<Voted>[]> {
  return (await store.logEvents("auto", 0, 1000)).filter((event) => event.kind === "voted");
}

describe("a vote with a token", () => {
  it("counts although the node was killed before it had stored the decision", async () => {
    const folder = newFolder();
    const first = await startGateway(SANDBOX, { folder });
    const record = first.store.record.bind(first.store);
    const stored = await ask(first);
    await first.post("/v1/feedback", {
      id: stored.decision_id,
      winner: 0,
      vote_token: stored.vote_token,
    });
    // Everything that is decided from now on is lost.
    first.store.record = async () => {};
    const lost = [await ask(first), await ask(first)];
    await first.close();
    first.store.record = record;

    const second = await startGateway(SANDBOX, { folder });
    const { post } = second;
    for (const { decision_id: id, vote_token } of lost) {
      const byId = await post("/v1/feedback", { id, winner: 0 });
      expect([byId.status, byId.json.error.code]).toEqual([404, "decision_not_found"]);
      const vote = await post("/v1/feedback", { id, winner: 0, vote_token });
      expect(vote.json).toMatchObject({ id, status: "logged" });
      expect(vote.json.models).toHaveLength(2);
      const again = await post("/v1/feedback", { id, winner: 0, vote_token });
      expect(again.json.status).toBe("repeated");
      const changed = await post("/v1/feedback", { id, winner: 1, vote_token });
      expect(changed.status).toBe(409);
    }
    const [known, ...votes] = await votesOf(second);
    expect(votes).toHaveLength(2);
    // A vote without its decision's row is as complete as one with it.
    for (const vote of votes) expect(Object.keys(vote).sort()).toEqual(Object.keys(known!).sort());
  });

  it("is learned from exactly the embedding that the decision was made with", async () => {
    const gateway = await startGateway(SANDBOX);
    const { decision_id: id, vote_token } = await ask(gateway);
    await gateway.post("/v1/feedback", { id, winner: "tie", vote_token });
    const [vote] = await votesOf(gateway);
    const { decision } = (await gateway.store.decision(id))!;
    expect(vote!.x).toEqual(decision.x);
    expect(vote).toMatchObject({
      models: decision.pair,
      values: decision.pair.map((model) => decision.values![decision.candidates.indexOf(model)]),
      decided: decision.at,
      propensity: decision.propensity,
      version: decision.version,
    });
  });

  it("is one ballot, whatever names the voter gives", async () => {
    const gateway = await startGateway(SANDBOX);
    const { decision_id: id, vote_token } = await ask(gateway);
    const statuses = new Set<string>();
    for (let i = 0; i < 20; i++) {
      const vote = { id, winner: 0, vote_token, voter: `voter ${i}` };
      statuses.add((await gateway.post("/v1/feedback", vote)).json.status);
    }
    expect(statuses).toEqual(new Set(["logged", "repeated"]));
    expect(await votesOf(gateway)).toHaveLength(1);
  });

  it("counts while decisions cannot be read", async () => {
    const gateway = await startGateway(SANDBOX);
    const { decision_id: id, vote_token } = await ask(gateway);
    gateway.store.decision = never;
    const vote = await gateway.post("/v1/feedback", { id, winner: 0, vote_token });
    expect(vote.json.status).toBe("logged");
  });

  it("rates the answer that arrived if the other one failed", async () => {
    const gateway = await startGateway(SANDBOX);
    const { decision_id: id, vote_token } = await ask(gateway);
    const vague = await gateway.post("/v1/feedback", { id, rating: 1, vote_token });
    expect([vague.status, vague.json.error.param]).toEqual([400, "slot"]);
    const rating = { id, rating: 1, slot: 1, vote_token };
    expect((await gateway.post("/v1/feedback", rating)).json.status).toBe("logged");
    const [vote] = await votesOf(gateway);
    expect(vote!.models).toEqual([(await gateway.store.decision(id))!.decision.pair[1]]);
  });
});

describe("a vote while the database does not answer", () => {
  it("gets 503 with the time to wait, with and without a token", async () => {
    const gateway = await startGateway(SANDBOX);
    const { decision_id: id, vote_token } = await ask(gateway);
    const hung = Promise.withResolvers<never>();
    onTestFinished(() => hung.reject(new StoreUnavailable("connection lost")));
    gateway.store.append = () => hung.promise;
    gateway.store.decision = never;
    for (const token of [{ vote_token }, {}]) {
      const refused = await gateway.post("/v1/feedback", { id, winner: 0, ...token });
      expect([refused.status, refused.json.error.code]).toEqual([503, "store_unavailable"]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    }
  });

  it("waits no longer than two seconds for all steps together", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const slow = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new StoreUnavailable("late")), 60_000);
    });
    const parts = {
      clock: { date: () => 0 },
      log: { stats: { waiting: 0, down: false }, votes: () => slow },
      store: { decision: () => slow, decisionNamed: () => slow },
    } as unknown as VoteParts;
    const vote = { id: "d", session: undefined, isLast: false, voter: "", token: undefined };
    const contents = [
      { verdict: { outcome: "a" }, weight: 1, isSession: false, param: "winner" },
    ] as const;
    const result = receiveVote(parts, undefined, { ...vote, contents }).catch(String);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await Promise.race([result, "waits"])).toContain("does not answer");
    await vi.runAllTimersAsync();
  });

  it("gets 503, not 404, if another node may still store the decision", async () => {
    const gateway = await startGateway(SANDBOX);
    Object.assign(gateway.store, { shared: true });
    const vote = (id: string) => gateway.post("/v1/feedback", { id, winner: 0 });
    expect((await vote(newDecisionId(Date.now()))).status).toBe(503);
    expect((await vote(newDecisionId(Date.now() - 3_600_000))).status).toBe(404);
    expect((await vote("no-such-thing")).status).toBe(404);
    gateway.store.decision = () => Promise.reject(new StoreUnavailable("connection lost"));
    expect((await vote("no-such-thing")).status).toBe(503);
  });
});

it("names of judges are reserved", async () => {
  const gateway = await startGateway(SANDBOX);
  const { decision_id: id } = await ask(gateway);
  const vote = await gateway.post("/v1/feedback", { id, winner: 0, voter: "judge:good" });
  expect([vote.status, vote.json.error.param]).toEqual([400, "voter"]);
  expect(await votesOf(gateway)).toEqual([]);
});

it("names are stored as they were sent, or refused", async () => {
  const gateway = await startGateway(
    `${SANDBOX}\nkeys: {app: {key: key-of-the-app-alone, scopes: [route, vote]}}`,
  );
  const key = { authorization: "Bearer key-of-the-app-alone" };
  const { json } = await gateway.post("/v1/chat/completions", chat("hi", DUEL), key);
  const vote = (voter: string) =>
    gateway.post("/v1/feedback", { id: json.id, winner: 0, voter }, key);
  const half = await vote("half \ud83d of a pair");
  expect([half.status, half.json.error.param]).toEqual([400, "voter"]);
  const long = "\u{1f600}".repeat(128);
  expect((await vote(long)).status).toBe(200);
  expect(await votesOf(gateway)).toMatchObject([{ voter: `config:app/${long}` }]);
});

describe("with a sample of the decisions", () => {
  const SAMPLED = `${SANDBOX}\nstore: {sample: 0.1}`;

  it("all are counted, a share is stored, and those voted on or duelled are stored", async () => {
    const gateway = await startGateway(SAMPLED);
    const { post, get, store } = gateway;
    const notes: { id: string; vote_token: string }[] = [];
    for (let i = 0; i < 60; i++) notes.push((await post("/v1/route", chat(`hi ${i}`))).json);
    const { decision_id: duel } = await ask(gateway);
    const { counts } = (await get("/v1/stats")).json;
    expect(counts).toMatchObject({ requests: 61, duels: 1 });
    const stored = await store.decisions({ limit: 100 });
    expect(stored.length).toBeLessThan(40);
    const ids = new Set(stored.map(({ decision }) => decision.id));
    expect(ids.has(duel)).toBe(true);
    const missing = notes.find(({ id }) => !ids.has(id))!;
    expect((await post("/v1/feedback", { id: missing.id, rating: 1 })).status).toBe(404);
    const vote = { id: missing.id, rating: 1, vote_token: missing.vote_token };
    expect((await post("/v1/feedback", vote)).json.status).toBe("logged");
    const shown = await get(`/v1/decisions/${missing.id}`);
    expect(shown.json).toMatchObject({ id: missing.id, votes: [{ rating: 1 }] });
    // The restored decision is shown, but not counted again.
    expect((await get("/v1/stats")).json.counts.requests).toBe(61);
  });
});

it("a wrong winner is refused with the values that it may have", async () => {
  const { post } = await startGateway(SANDBOX);
  const { status, json } = await post("/v1/feedback", { id: "x", winner: 2 });
  expect([status, json.error.param]).toEqual([400, "winner"]);
  expect(json.error.message).toBe('winner: must be 0, 1, "tie" or "both_bad"');
});
