import { expect, it } from "vitest";
import { textWidth } from "../report/svg.ts";
import { cellsPicture } from "./claims-page.ts";
import { judgePart } from "./verdict.ts";

it("the title of a picture of cells is broken into lines that fit", () => {
  const cell = { label: "", runs: [1, 1.1, 0.9] };
  const picture = (unit: string) => cellsPicture(judgePart({ cells: [cell, cell], unit }));
  const long = picture(
    "convergence, the mean regret per round of the last third divided by the first",
  );
  const start = long.body.matchAll(/<text x="([\d.]+)"[^>]*text-anchor="start"[^>]*>([^<]*)/g);
  const lines = [...start].map(([, x, text]) => ({ x: Number(x), text: text! }));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.map(({ text }) => text).join(" ")).toBe(long.title);
  for (const { x, text } of lines) expect(x + textWidth(text, 10)).toBeLessThan(long.width);
  // The picture grows by the height of the further lines.
  expect(long.height - picture("regret").height).toBe(13 * (lines.length - 1));
});

it("the title says on which side of the line a cell is for the claim", () => {
  const cell = { label: "", runs: [1, 1.1, 0.9] };
  const titleOf = (part: object) => cellsPicture(judgePart({ cells: [cell], ...part })).title;
  expect(titleOf({})).toMatch("left of the line: for the claim");
  expect(titleOf({ rule: "equivalence", margin: 2 })).toMatch("across the line: for the claim");
});
