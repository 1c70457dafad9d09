import fc from "fast-check";
import { expect, it } from "vitest";
import { joined, literal, type Statement, sql, textOf } from "./sql.ts";

const postgres = (statement: Statement) => textOf(statement, (n) => `$${n}`);

it("keeps values out of the text and numbers them in order", () => {
  const condition = sql`router = ${"'; DROP TABLE log"}`;
  const all = sql`SELECT ${literal("a, b")} FROM log WHERE ${condition} AND at > ${3} LIMIT ${5}`;
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

it("gives the same statement however it is composed", () => {
  const parts = fc.array(
    fc.oneof(fc.nat(), fc.constantFrom(literal(""), literal("w"), sql`[${1}]`)),
  );
  fc.assert(
    fc.property(parts, parts, (first, second) => {
      const nested = sql`${joined(first, ",")};${joined(second, ",")}`;
      const flat = [...first.flatMap((part) => [part, literal(",")]).slice(0, -1), literal(";")];
      flat.push(...second.flatMap((part) => [part, literal(",")]).slice(0, -1));
      expect(nested).toEqual(joined(flat, ""));
      expect(nested.texts.length).toBe(nested.values.length + 1);
    }),
    { seed: 1 },
  );
});
