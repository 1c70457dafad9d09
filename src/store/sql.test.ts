import fc from "fast-check";
import { expect, it } from "vitest";
import { joined, type Statement, sql, textOf, words } from "./sql.ts";

const postgres = (statement: Statement) => textOf(statement, (n) => `$${n}`);

it("keeps values out of the text, numbered in its order", () => {
  const mine = sql`router = ${"'; DROP TABLE log"}`;
  const all = sql`SELECT ${words("a, b")} FROM log WHERE ${mine} AND at > ${3} LIMIT ${5}`;
  expect(postgres(all)).toBe("SELECT a, b FROM log WHERE router = $1 AND at > $2 LIMIT $3");
  expect(textOf(all, () => "?")).toBe("SELECT a, b FROM log WHERE router = ? AND at > ? LIMIT ?");
  expect(all.values).toEqual(["'; DROP TABLE log", 3, 5]);
});

it("joins values and statements", () => {
  expect(postgres(sql`id IN (${joined(["x", "y", "z"], ", ")})`)).toBe("id IN ($1, $2, $3)");
  expect(postgres(joined([sql`a = ${1}`], " AND "))).toBe("a = $1");
  const [a, b] = [sql`a = ${1}`, sql`b = ${2} OR b = ${3}`];
  expect(joined([a, b], " AND ")).toEqual(sql`a = ${1} AND b = ${2} OR b = ${3}`);
});

it("put together of parts in any way is what it is in one", () => {
  const parts = fc.array(fc.oneof(fc.nat(), fc.constantFrom(words(""), words("w"), sql`[${1}]`)));
  fc.assert(
    fc.property(parts, parts, (first, second) => {
      const apart = sql`${joined(first, ",")};${joined(second, ",")}`;
      const flat = [...first.flatMap((part) => [part, words(",")]).slice(0, -1), words(";")];
      flat.push(...second.flatMap((part) => [part, words(",")]).slice(0, -1));
      expect(apart).toEqual(joined(flat, ""));
      expect(apart.texts.length).toBe(apart.values.length + 1);
    }),
    { seed: 1 },
  );
});
