import { expect, it } from "vitest";
import {
  type Exchange,
  newExchange,
  withEnd,
  withInterruption,
  withText,
} from "../conversation/exchange.ts";
import { changes } from "./announcer.tsx";

const started = { ...newExchange("t", 0, "Why?", true), decision: "d" };
const answered = withText(withText(started, 0, "Because"), 1, "Since");
const kept = (exchange: Exchange): Exchange => ({
  ...exchange,
  vote: { choice: { winner: 0 }, status: "saved" },
});

it("announces the start, the end of each answer and the vote", () => {
  expect(changes(undefined, started)).toEqual(["Two answers are on their way."]);
  expect(changes(started, answered)).toEqual([]);
  expect(changes(answered, withEnd(answered, 1, "stop"))).toEqual(["Answer B is finished."]);
  expect(changes(answered, kept(answered))).toEqual(["Your vote is saved."]);
});

it("announces every one of several simultaneous changes", () => {
  const ended = withEnd(withEnd(answered, 0, "stop"), 1, "stop");
  expect(changes(answered, kept(ended))).toEqual([
    "Answer A is finished.",
    "Answer B is finished.",
    "Your vote is saved.",
  ]);
  expect(
    changes(answered, withInterruption(withEnd(answered, 0, "stop"), "No connection.")),
  ).toEqual(["Answer A is finished.", "No connection."]);
});

it("does not announce a conversation that was restored", () => {
  expect(changes(undefined, withInterruption(answered, "The page was reloaded."))).toEqual([]);
});
