import { describe, expect, it } from "vitest";
import { VoteRequest } from "../../api/vote.ts";
import { configOf } from "../gateway.fixture.ts";
import { checked, HttpError } from "../wire/http-error.ts";
import { readVote } from "./vote-body.ts";

const { metrics } = configOf(`
metrics:
  thumbs: {type: boolean}
  flagged: {type: boolean, direction: lower}
  score: {type: number, min: 0, max: 1}
  number_of_errors: {type: number, min: 0, max: 10, direction: lower, weight: 0.2}
  stars: {type: rating, min: 1, max: 5, level: session}
  value: {type: rating, min: -10, max: 10}`);
const read = (body: object) => readVote(checked(VoteRequest, body), metrics);

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
    [{ inference_id: "d", metric_name: "flagged", value: true }, { rating: -1 }],
    [{ inference_id: "d", metric_name: "score", value: 0.25 }, { rating: -0.5 }],
    [{ inference_id: "d", metric_name: "number_of_errors", value: 10 }, { rating: -1 }],
    [{ inference_id: "d", metric_name: "number_of_errors", value: 99 }, { rating: -1 }],
    [{ inference_id: "d", metric_name: "number_of_errors", value: 0 }, { rating: 1 }],
    [{ inference_id: "d", metric_name: "stars", value: 1 }, { rating: -1 }],
    [{ inference_id: "d", metric_name: "stars", value: 2 }, { rating: -0.5 }],
    [{ inference_id: "d", metric_name: "stars", value: 5 }, { rating: 1 }],
    [{ trace_id: "d", value: -10 }, { rating: -1 }],
    [{ trace_id: "d", value: 5, weight: 1 }, { rating: 0.5 }],
    [{ inference_id: "d", metric_name: "comment", value: "too long" }, { comment: "too long" }],
    [{ id: "d", comment: "too long" }, { comment: "too long" }],
    [{ id: "d", type: "leftvote" }, { outcome: "a" }],
    [{ id: "d", type: "bothbad_vote" }, { outcome: "both_bad" }],
  ])("reads %j as %j", (body, verdict) => {
    expect(read(body)).toMatchObject({ id: "d", contents: [{ verdict }] });
  });

  it("may have several metrics and a comment, which is stored once", () => {
    const metricsSent = { thumbs: true, number_of_errors: 5, stars: 4 };
    const { contents } = read({ id: "d", metrics: metricsSent, comment: "too long" });
    expect(contents).toEqual([
      {
        verdict: { rating: 1 },
        weight: 0.5,
        metric: { name: "thumbs", value: true },
        isSession: false,
        param: "metrics.thumbs",
      },
      {
        verdict: { rating: 0 },
        weight: 0.2,
        metric: { name: "number_of_errors", value: 5 },
        isSession: false,
        param: "metrics.number_of_errors",
      },
      {
        verdict: { rating: 0.5 },
        weight: 0.5,
        metric: { name: "stars", value: 4 },
        isSession: true,
        param: "metrics.stars",
      },
      { verdict: { comment: "too long" }, weight: 0, isSession: false, param: "comment" },
    ]);
  });

  it("names the line to add if a metric is not declared", () => {
    const send = (metric_name: string, value: unknown) => () =>
      read({ id: "d", metric_name, value });
    expect(send("latency", 3)).toThrow(
      expect.objectContaining({
        message: 'the metric "latency" is not declared',
        hint: expect.stringContaining(
          'add to the configuration (joust.yaml or POST /v1/admin/configuration): metrics: {"latency": {type: number, min: 0, max: 1, direction: higher}}',
        ),
      }),
    );
    expect(send("thumb", true)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("thumbs") }),
    );
    expect(send("toString", true)).toThrow(HttpError);
  });

  it.each([
    [{ winner: 0, rating: 1 }, "rating", "the vote has winner and rating"],
    [{ type: "leftvote", ranking: ["x", "y"] }, "ranking", "the vote has type and ranking"],
    [{ metrics: { stars: 6 } }, "metrics.stars", "the metric stars is 6, not between 1 and 5"],
    [{ metrics: { star: 6 } }, "metrics.star", 'the metric "star" is not declared'],
    [{ metric_name: "stars", value: 6 }, "value", "the metric stars is 6, not between 1 and 5"],
    [{ metric_name: "star", value: 6 }, "metric_name", 'the metric "star" is not declared'],
  ])("%j is refused with the member %s", (body, param, message) => {
    expect(() => read({ id: "d", ...body })).toThrow(expect.objectContaining({ param, message }));
  });

  it("may name a session instead of a decision, for metrics of the session and comments", () => {
    const vote = read({ episode_id: "s", metric_name: "stars", value: 4, comment: "slow" });
    expect(vote).toMatchObject({ id: undefined, session: "s", isLast: false });
    expect(vote.contents).toMatchObject([{ isSession: true }, { verdict: { comment: "slow" } }]);
  });

  it("may be about the last answer of a session", () => {
    const vote = read({ session_id: "s", last: true, winner: "tie" });
    expect(vote).toMatchObject({ id: undefined, session: "s", isLast: true });
    expect(read({ episode_id: "s", last: true, rating: 1 })).toMatchObject({ session: "s" });
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
    { id: "d", metric_name: "stars", value: 6 },
    { id: "d", metric_name: "stars", value: true },
    { id: "d", metric_name: "thumbs", value: 1 },
    { id: "d", comment: "" },
    { id: "d", metric_name: "thumbs", value: "true" },
    { episode_id: "s", metric_name: "thumbs", value: true },
    { episode_id: "s", winner: 0 },
    { session_id: "s", winner: 0 },
    { session_id: "s", last: false, winner: 0 },
    { id: "d", last: true, winner: 0 },
    { id: "d", session_id: "s", last: true, winner: 0 },
    { last: true, winner: 0 },
    { session_id: "s", last: true, winner: 0, vote_token: "t" },
    { episode_id: "s", metric_name: "stars", value: 4, vote_token: "t" },
    { id: "d", winner: 0, comment: "x".repeat(2001) },
  ])("is refused: %j", (body) => {
    expect(() => read(body)).toThrow(HttpError);
  });
});
