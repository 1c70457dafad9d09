import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decimalsOf,
  fixed,
  type Table,
  toCsv,
  toHtml,
  toLatex,
  toMarkdown,
  toText,
} from "./table.ts";

const TABLE: Table = {
  title: "Regret & cost",
  columns: [
    { key: "policy", title: "Policy", kind: "text" },
    { key: "regret", title: "Regret", kind: "interval" },
    { key: "agreement", title: "Agreement", kind: "percent" },
    { key: "cost", title: "Cost", kind: "number" },
  ],
  rows: [
    ["joust", { mean: -1.25, lo: -2.5, hi: 0.001 }, 0.905, 0.5],
    ["random", { mean: 111.9, lo: 106.4, hi: 117.3 }, 0.1, 1.25],
    ["one run", { mean: 3, lo: Number.NaN, hi: Number.NaN }, 0, null],
    ["none", null, Number.NaN, null],
  ],
  best: 0,
};

describe("text", () => {
  test("columns and decimal points are aligned", () => {
    const lines = toText(TABLE).trimEnd().split("\n");
    expect(lines).toEqual([
      "Regret & cost",
      "Policy                 Regret  Agreement   Cost",
      "-----------------------------------------------",
      "joust     -1.3 [ -2.5,   0.0]      90.5%  0.500",
      "random   111.9 [106.4, 117.3]      10.0%  1.250",
      "one run                   3.0       0.0%      -",
      "none                        -          -      -",
    ]);
  });

  test("columns that do not fit are dropped and named", () => {
    const text = toText(TABLE, undefined, 40);
    expect(text).toContain("too narrow to show: Cost");
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(42);
    expect(text).not.toContain("1.250");
  });

  test("colors do not change the alignment", () => {
    const colors = { bold: (s: string) => `<b>${s}</b>`, dim: (s: string) => `<i>${s}</i>` };
    expect(toText(TABLE, colors).replace(/<\/?[bi]>/g, "")).toBe(toText(TABLE));
    expect(toText(TABLE, colors)).toContain("<b>joust");
  });
});

describe("CSV", () => {
  test("an interval has three fields with full precision, empty if unknown", () => {
    const [header, first, , third, fourth] = parse(toCsv(TABLE)) as string[][];
    expect(header).toEqual(["policy", "regret", "regret_lo", "regret_hi", "agreement", "cost"]);
    expect(first!.slice(1, 4).map(Number)).toEqual([-1.25, -2.5, 0.001]);
    expect(third).toEqual(["one run", "3", "", "", "0", ""]);
    expect(fourth).toEqual(["none", "", "", "", "", ""]);
  });

  test("any text and any number can be read back", () => {
    const cell = fc.tuple(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    const columns: Table["columns"] = [
      { key: "a", title: "A", kind: "text" },
      { key: "b", title: "B", kind: "number" },
    ];
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1 }), (rows) => {
        const back = parse(toCsv({ title: "", columns, rows })) as string[][];
        expect(back.slice(1).map(([a]) => a)).toEqual(rows.map(([a]) => a));
        expect(back.slice(1).map(([, b]) => Number(b) + 0)).toEqual(rows.map(([, b]) => b + 0));
      }),
      { seed: 1 },
    );
  });
});

test("LaTeX: special characters are escaped, one row per line, booktabs rules", () => {
  const name = "[a_b] & 50% #1 {x} $y$ ~z^2 <q> \\end|";
  const tex = toLatex({ ...TABLE, rows: [[name, { mean: -1, lo: -2, hi: 0 }, 0.5, 1]] });
  expect(tex).toContain(
    "{[}a\\_b{]} \\& 50\\% \\#1 \\{x\\} \\$y\\$ \\textasciitilde{}z\\textasciicircum{}2 " +
      "\\textless{}q\\textgreater{} \\textbackslash{}end\\textbar{}",
  );
  expect(tex).toContain("$-$1.0 {[}$-$2.0, 0.0{]}");
  expect(tex).toContain("\\begin{tabular}{lrrr}\n\\toprule\nPolicy & Regret");
  const cells = tex.split("\n").filter((line) => line.endsWith("\\\\"));
  for (const line of cells) expect(line.match(/(?<!\\)&/g)!.length).toBe(3);
  expect([...tex].every((c) => c.codePointAt(0)! < 128)).toBe(true);
});

test("HTML: names are escaped", () => {
  const html = toHtml({ ...TABLE, rows: [["<script>alert('1')</script>", null, 1, 2]] });
  expect(html).not.toContain("<script");
  expect(html).toContain("&#60;script&#62;alert(&#39;1&#39;)");
  expect(html).toContain('<tr class="best">');
});

test("Markdown: all rows have the same number of cells, and bars are escaped", () => {
  const lines = toMarkdown({ ...TABLE, rows: [["a|b*", null, 1, 2]] })
    .trimEnd()
    .split("\n")
    .slice(2);
  for (const line of lines) expect(line.match(/(?<!\\)\|/g)!.length).toBe(5);
  expect(lines[1]).toBe("| :-- | --: | --: | --: |");
  expect(lines[2]).toContain("a\\|b\\*");
});

test("numbers: four digits of the largest, a typographic minus, no minus zero", () => {
  expect(decimalsOf([153.2, 0.5])).toBe(1);
  expect(decimalsOf([0.8])).toBe(4);
  expect(decimalsOf([5000.5])).toBe(0);
  expect(decimalsOf([3, 20])).toBe(0);
  expect(decimalsOf([])).toBe(0);
  expect(fixed(-2.345, 1)).toBe("\u22122.3");
  expect(fixed(-0.001, 1)).toBe("0.0");
  expect(fixed(-0, 0)).toBe("0");
});
