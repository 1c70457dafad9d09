import { describe, expect, it } from "vitest";
import { VoteRequest } from "../../api/vote.ts";
import { checked, HttpError } from "../wire/http-error.ts";
import { readVote } from "./vote-body.ts";

const read = (body: object) => readVote(checked(VoteRequest, body));

describe("a vote", () => {
  it.each([
    [{ id: "d", winner: 0 }, { outcome: "a" }],
    [{ id: "d", winner: "1" }, { outcome: "b" }],
    [{ id: "d", winner: "tie" }, { outcome: "tie" }],
    [{ id: "d", winner: "both_bad" }, { outcome: "both_bad" }],
    [{ id: "d", rating: -0.5 }, { rating: -0.5 }],
    [
      { id: "d", rating: 1, slot: 1 },
      { rating: 1, slot: 1 },
    ],
    [{ id: "d", ranking: ["x", "y"] }, { ranking: ["x", "y"] }],
    // Formats of other programs.
    [{ inference_id: "d", metric_name: "thumbs", value: true }, { rating: 1 }],
    [{ inference_id: "d", metric_name: "score", value: 0.25 }, { rating: 0.25 }],
    [{ trace_id: "d", value: -10 }, { rating: -1 }],
    [{ trace_id: "d", value: 5, weight: 1 }, { rating: 0.5 }],
    [{ id: "d", type: "leftvote" }, { outcome: "a" }],
    [{ id: "d", type: "bothbad_vote" }, { outcome: "both_bad" }],
  ])("reads %j as %j", (body, verdict) => {
    expect(read(body)).toMatchObject({ decision: "d", verdict });
  });

  it("may have the id of the completion", () => {
    expect(readVote({ id: "chatcmpl-d", winner: 0 }).decision).toBe("d");
  });

  it.each([
    {},
    { id: "d" },
    { winner: 0 },
    { id: "d", winner: 2 },
    { id: "d", rating: 1.5 },
    { id: "d", winner: 0, rating: 1 },
    { id: "d", rating: 1, slot: 2 },
    { id: "d", ranking: ["x"] },
    { id: "", winner: 0 },
    { id: "d", winner: 0, voter: "a\u0000b" },
  ])("is refused: %j", (body) => {
    expect(() => read(body)).toThrow(HttpError);
  });
});
