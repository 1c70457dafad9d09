import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dot, norm } from "../../linalg/linalg.ts";
import { BUNDLED_STATIC, isStaticFolder, openStatic } from "./open-static.ts";
import { STATIC_FILE } from "./static-file.ts";

describe("the bundled encoder", async () => {
  const { encoder, identity } = await openStatic();

  it("exists, has at most 10 MB, and describes itself", () => {
    expect(isStaticFolder(BUNDLED_STATIC)).toBe(true);
    expect(isStaticFolder(import.meta.dirname)).toBe(false);
    expect(statSync(join(BUNDLED_STATIC, STATIC_FILE)).size).toBeLessThan(10e6);
    expect(identity).toMatch(/^[0-9a-f]{64}$/);
    expect(encoder.name).toBe("static");
    expect(encoder.dimension).toBe(256);
    expect(encoder.table.source).toBe("MiniLM");
    expect(encoder.table.tokenizer.tokens.length).toBe(30522);
  });

  it("returns the same numbers on every machine", () => {
    const x = encoder.encodeText("What is 12 + 30? A) forty-two B) Δέλτα 漢字");
    expect(norm(x)).toBeCloseTo(1, 14);
    expect([...x.subarray(0, 6)]).toMatchInlineSnapshot(`
      [
        0.09884958608253505,
        0.000628906436230882,
        0.06741122957912546,
        -0.1840623971678622,
        0.21690904753293222,
        0.13594084459222772,
      ]
    `);
  });

  it("distinguishes topics and kinds of texts", () => {
    const cosine = (a: string, b: string) => dot(encoder.encodeText(a), encoder.encodeText(b));
    const car = "How do I fix my car's engine?";
    expect(cosine(car, "Automobile motor repair")).toBeGreaterThan(
      cosine(car, "Write a poem about spring") + 0.1,
    );
    const sum = "A farmer has 12 cows and buys 7 more. How many cows does he have?";
    expect(cosine(sum, "Ann had 5 pens and lost 3. How many pens does she have?")).toBeGreaterThan(
      cosine(sum, "Which gas do plants take in?\nA) oxygen\nB) carbon dioxide") + 0.1,
    );
  });
});
