import { describe, expect, it } from "vitest";
import {
  brokenOff,
  canVote,
  isOpen,
  isStreaming,
  keptSlot,
  newTurn,
  withEnd,
  withText,
} from "./turn.ts";

const duel = { ...newTurn("t", 0, "Why?", true), decision: "d" };

describe("a duel", () => {
  it("can be voted on as soon as both have said something, and before they have finished", () => {
    expect(canVote(duel)).toBe(false);
    const one = withText(duel, 0, "Because");
    expect(canVote(one)).toBe(false);
    const both = withText(one, 1, "Since");
    expect([canVote(both), isStreaming(both)]).toEqual([true, true]);
  });

  it("is voted on once; a refused vote may be cast again", () => {
    const both = withText(withText(duel, 0, "a"), 1, "b");
    const choice = { winner: 0 } as const;
    expect(canVote({ ...both, vote: { choice, status: "sending" } })).toBe(false);
    expect(canVote({ ...both, vote: { choice, status: "kept" } })).toBe(false);
    expect(canVote({ ...both, vote: { choice, status: "refused" } })).toBe(true);
  });

  it("can be voted on after it was broken off, as long as there are two texts", () => {
    const both = brokenOff(withText(withText(duel, 0, "a"), 1, "b"), "reloaded");
    expect([canVote(both), isOpen(both), isStreaming(both)]).toEqual([true, true, false]);
    expect(isOpen(brokenOff(duel, "no answer"))).toBe(false);
  });

  it("goes on with the answer that was preferred, and with one that has a text", () => {
    const both = withText(withText(duel, 0, "a"), 1, "b");
    const slotAfter = (winner: 0 | 1 | "tie") =>
      keptSlot({ ...both, vote: { choice: { winner }, status: "kept" } });
    expect([slotAfter(0), slotAfter(1), slotAfter("tie"), keptSlot(both)]).toEqual([0, 1, 0, 0]);
    expect(keptSlot(withText(duel, 1, "b"))).toBe(1);
  });
});

it("what a model says to itself is not its answer", () => {
  const thinking = withText(newTurn("t", 0, "Why?", false), 0, "hm", true);
  expect(thinking.answers[0]).toMatchObject({ text: "", isThinking: true, status: "streaming" });
  const said = withText(thinking, 0, "Because");
  expect(said.answers[0]).toMatchObject({ text: "Because", isThinking: false });
  expect(withEnd(said, 0, "stop").answers[0]!.status).toBe("done");
  expect(withEnd(said, 0, "error").answers[0]!.status).toBe("broken");
});
