import { expect, it } from "vitest";
import { dollars, passedHeaders } from "./deliver.ts";

it("passes on the upstream headers that concern the client", () => {
  const headers = {
    "x-request-id": "r-1",
    "openai-processing-ms": "12",
    "x-ratelimit-remaining-tokens": ["7", "8"],
    connection: "close",
    "transfer-encoding": "chunked",
    "content-length": "3",
    "set-cookie": ["session=1"],
    server: "host",
    "request-id": undefined,
  };
  expect(passedHeaders(headers)).toEqual({
    "x-request-id": "r-1",
    "openai-processing-ms": "12",
    "x-ratelimit-remaining-tokens": "7, 8",
  });
});

it.each([
  [0, "0"],
  [1.5, "1.5"],
  [0.0000001234, "0.0000001234"],
  [20, "20"],
])("writes %d dollars as %s", (cost, text) => {
  expect(dollars(cost)).toBe(text);
});
