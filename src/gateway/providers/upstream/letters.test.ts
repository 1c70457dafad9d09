import { expect, it } from "vitest";
import { Random } from "../../../core/random/random.ts";
import { lettersOf, windowsIn } from "./letters.ts";

const letters = (...texts: string[]) => lettersOf(texts).toString("latin1");

it("letters are those of all texts, without signs and escaped characters", () => {
  expect(letters("It is\n'8,192' Tokens!", "Né\u0141")).toBe("itis8192tokensn");
  expect(letters("a\\nb\\u0043\\u12\\q\\")).toBe("abcu12q");
});

it("finds the sequences that both texts have", () => {
  const random = Random.seeded(7);
  const text = (length: number) =>
    Array.from({ length }, () => "abc"[Math.floor(3 * random.uniform())]).join("");
  for (let i = 0; i < 200; i++) {
    const [long, short] = [text(300), text(Math.floor(30 * random.uniform()))];
    const expected = Array.from({ length: Math.max(0, short.length - 4) }, (_, k) =>
      short.slice(k, k + 5),
    ).filter((window) => long.includes(window));
    const found = windowsIn(Buffer.from(long), Buffer.from(short), 5)!;
    expect(found).toEqual(new Set(expected));
  }
});

it("compares a limited number of places", () => {
  const places = (length: number) =>
    windowsIn(Buffer.from("a".repeat(length)), Buffer.from("a".repeat(20)), 8);
  expect(places(15_000)).toEqual(new Set(["aaaaaaaa"]));
  expect(places(1_000_000)).toBeUndefined();
});
