import { describe, expect, it } from "vitest";
import {
  awaitsVote,
  canVote,
  commentOf,
  continuedSlot,
  isStreaming,
  newExchange,
  READABLE,
  withEnd,
  withInterruption,
  withText,
} from "./exchange.ts";

const duel = { ...newExchange("t", 0, "Why?", true), decision: "d" };

describe("a duel", () => {
  it("can be voted on as soon as both answers are readable: finished, or long enough", () => {
    expect(canVote(duel)).toBe(false);
    const long = "x".repeat(READABLE);
    const one = withText(duel, 0, long);
    expect(canVote(one)).toBe(false);
    const short = withText(one, 1, "Since");
    expect(canVote(short)).toBe(false);
    expect(canVote(withEnd(short, 1, "stop"))).toBe(true);
    const both = withText(one, 1, long);
    expect([canVote(both), isStreaming(both)]).toEqual([true, true]);
  });

  it("takes one vote; a refused vote may be cast again", () => {
    const both = withEnd(withEnd(withText(withText(duel, 0, "a"), 1, "b"), 0, "stop"), 1, "stop");
    const choice = { winner: 0 } as const;
    expect(canVote({ ...both, vote: { choice, status: "held" } })).toBe(false);
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
    const tie = { choice: { winner: "tie" }, status: "saved" } as const;
    expect(continuedSlot({ ...both, vote: tie, continued: 1 })).toBe(1);
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

it("a comment has the picked reasons first, and is undefined without either", () => {
  const vote = { choice: { winner: 0 }, status: "held" } as const;
  expect(commentOf(vote)).toBeUndefined();
  expect(commentOf({ ...vote, comment: "  " })).toBeUndefined();
  expect(commentOf({ ...vote, reasons: ["Correct", "Clear"] })).toBe("Correct, Clear");
  expect(commentOf({ ...vote, reasons: ["Correct"], comment: "Cites it" })).toBe(
    "Correct. Cites it",
  );
});
