import { expect, it } from "vitest";
import { changes } from "./announcer.tsx";
import { brokenOff, newTurn, type Turn, withEnd, withText } from "./turn.ts";

const asked = { ...newTurn("t", 0, "Why?", true), decision: "d" };
const answered = withText(withText(asked, 0, "Because"), 1, "Since");
const kept = (turn: Turn): Turn => ({ ...turn, vote: { choice: { winner: 0 }, status: "kept" } });

it("announces the start, each answer's end and the vote", () => {
  expect(changes(undefined, asked)).toEqual(["Two answers are on their way."]);
  expect(changes(asked, answered)).toEqual([]);
  expect(changes(answered, withEnd(answered, 1, "stop"))).toEqual(["Answer B is finished."]);
  expect(changes(answered, kept(answered))).toEqual(["Your vote is kept."]);
});

it("announces every change that came at once", () => {
  const ended = withEnd(withEnd(answered, 0, "stop"), 1, "stop");
  expect(changes(answered, kept(ended))).toEqual([
    "Answer A is finished.",
    "Answer B is finished.",
    "Your vote is kept.",
  ]);
  expect(changes(answered, brokenOff(withEnd(answered, 0, "stop"), "No connection."))).toEqual([
    "Answer A is finished.",
    "No connection.",
  ]);
});

it("does not announce a conversation that was restored", () => {
  expect(changes(undefined, brokenOff(answered, "The page was reloaded."))).toEqual([]);
});
