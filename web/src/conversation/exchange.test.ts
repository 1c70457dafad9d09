import { describe, expect, it } from "vitest";
import {
  awaitsVote,
  canVote,
  continuedSlot,
  isStreaming,
  newExchange,
  withEnd,
  withInterruption,
  withText,
} from "./exchange.ts";

const duel = { ...newExchange("t", 0, "Why?", true), decision: "d" };

describe("a duel", () => {
  it("can be voted on as soon as both answers have some text", () => {
    expect(canVote(duel)).toBe(false);
    const one = withText(duel, 0, "Because");
    expect(canVote(one)).toBe(false);
    const both = withText(one, 1, "Since");
    expect([canVote(both), isStreaming(both)]).toEqual([true, true]);
  });

  it("takes one vote; a refused vote may be cast again", () => {
    const both = withText(withText(duel, 0, "a"), 1, "b");
    const choice = { winner: 0 } as const;
    expect(canVote({ ...both, vote: { choice, status: "sending" } })).toBe(false);
    expect(canVote({ ...both, vote: { choice, status: "saved" } })).toBe(false);
    expect(canVote({ ...both, vote: { choice, status: "refused" } })).toBe(true);
  });

  it("can be voted on after an interruption if both answers have some text", () => {
    const both = withInterruption(withText(withText(duel, 0, "a"), 1, "b"), "reloaded");
    expect([canVote(both), awaitsVote(both), isStreaming(both)]).toEqual([true, true, false]);
    expect(awaitsVote(withInterruption(duel, "no answer"))).toBe(false);
  });

  it("continues with the preferred answer, unless it has no text", () => {
    const both = withText(withText(duel, 0, "a"), 1, "b");
    const slotAfter = (winner: 0 | 1 | "tie") =>
      continuedSlot({ ...both, vote: { choice: { winner }, status: "saved" } });
    expect([slotAfter(0), slotAfter(1), slotAfter("tie"), continuedSlot(both)]).toEqual([
      0, 1, 0, 0,
    ]);
    expect(continuedSlot(withText(duel, 1, "b"))).toBe(1);
  });
});

it("reasoning is not part of the answer", () => {
  const thinking = withText(newExchange("t", 0, "Why?", false), 0, "hm", true);
  expect(thinking.answers[0]).toMatchObject({ text: "", isThinking: true, status: "streaming" });
  const said = withText(thinking, 0, "Because");
  expect(said.answers[0]).toMatchObject({ text: "Because", isThinking: false });
  expect(withEnd(said, 0, "stop").answers[0]!.status).toBe("done");
  expect(withEnd(said, 0, "error").answers[0]!.status).toBe("failed");
});
