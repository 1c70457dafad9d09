import { expect, it } from "vitest";
import { newExchange, withText } from "./exchange.ts";
import { found, limited, withoutImages } from "./history.ts";

const conversation = (session: string, prompt: string, answer = "") => ({
  session,
  at: 0,
  exchanges: [withText(newExchange("t", 0, prompt, false), 0, answer)],
});

it("finds conversations by all words of questions and answers, in any case", () => {
  const all = [
    conversation("a", "Why is the sky blue?", "Rayleigh scattering"),
    conversation("b", "Why is grass green?", "Chlorophyll"),
  ];
  const sessions = (search: string) => found(all, search).map(({ session }) => session);
  expect(sessions("")).toEqual(["a", "b"]);
  expect(sessions("why  GREEN")).toEqual(["b"]);
  expect(sessions("rayleigh sky")).toEqual(["a"]);
  expect(sessions("rayleigh grass")).toEqual([]);
});

it("keeps the newest conversations that fit", () => {
  const large = Array.from({ length: 5 }, (_, i) => conversation(`${i}`, "x".repeat(1_000_000)));
  expect(limited(large).map(({ session }) => session)).toEqual(["0", "1"]);
  const many = Array.from({ length: 300 }, (_, i) => conversation(`${i}`, "x"));
  expect(limited(many)).toHaveLength(200);
});

it("stores no images", () => {
  const exchange = newExchange("t", 0, "What is this?", true, ["data:image/png;base64,AA"]);
  expect(withoutImages(exchange)).toEqual(newExchange("t", 0, "What is this?", true));
});
