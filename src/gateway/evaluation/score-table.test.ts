import { expect, it } from "vitest";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { readScores } from "../../core/input/scores.ts";
import { areAllEqual, completePrompts, otherLines, scoreFile, scoreLines } from "./score-table.ts";

const write = temporaryFolder();
const scored = (category: string, scores: Record<string, number>) => ({
  prompt: { id: "p", text: "?", category },
  answers: new Map(
    Object.entries(scores).map(([model, score]) => [model, { score, cost: score / 100 }]),
  ),
});

it("has means and errors of the prompts that all models have answered, and keeps other lines", async () => {
  const all = [
    scored("x", { a: 1, b: 0 }),
    scored("x", { a: 1, b: 1 }),
    scored("x", { a: 0, b: 0 }),
    scored("x", { a: 0, b: 1 }),
    scored("y", { a: 1, b: 0 }),
    scored("y", { a: 1 }),
  ];
  const complete = completePrompts(all, ["a", "b"]);
  expect(complete).toHaveLength(5);
  const lines = scoreLines(complete, ["a", "b"], ({ prompt }) => prompt.category!);
  const cell = (model: string, category: string) =>
    lines.find((line) => line.model === model && line.category === category)!;
  expect(cell("a", "x")).toMatchObject({ perf: 0.5, cost: 0.005 });
  expect(cell("b", "y")).toMatchObject({ perf: 0, cost: 0 });
  // One prompt says less than four.
  expect(cell("a", "y").se).toBeGreaterThan(1.5 * cell("a", "x").se);

  const file = write("scores.csv", scoreFile(lines));
  const table = await readScores(file);
  expect(table.models.get("a")!.get("x")).toMatchObject({ perf: 0.5, cost: 0.005 });
  expect(table.models.get("a")!.get("x")!.error).toBeCloseTo(cell("a", "x").se, 5);
  const old = await readScores(
    write("old.csv", 'model,category,perf,cost,n\na,x,0.1,0,5\na,z,0.2,0,\n"c,d",x,0.3,1,9\n'),
  );
  const kept = otherLines(old, lines);
  expect(kept.map(({ model, category }) => [model, category])).toEqual([
    ["a", "z"],
    ["c,d", "x"],
  ]);
  const merged = await readScores(write("merged.csv", scoreFile([...kept, ...lines])));
  expect(merged.models.get("c,d")!.get("x")).toMatchObject({ perf: 0.3, cost: 1 });
  expect(merged.models.get("a")!.get("z")!.error).toBeNaN();
});

it("states no error of 0, and says that equal scores are useless", () => {
  const of = (prompts: ReturnType<typeof scored>[]) =>
    scoreLines(prompts, ["a", "b"], ({ prompt }) => prompt.category!);
  const few = of([scored("x", { a: 0, b: 0 }), scored("x", { a: 0, b: 0 })]);
  // One of four prompts, two of them assumed, would have turned out differently.
  expect(few.map(({ se }) => se)).toEqual([0, 0].map(() => Math.sqrt((0.25 * 0.75) / 2)));
  const many = of(Array.from({ length: 98 }, () => scored("x", { a: 1, b: 1 })));
  expect(many[0]!.se).toBeCloseTo(0.01, 3);
  expect([few, many].map(areAllEqual)).toEqual([true, true]);
  const different = [...few, ...of([scored("y", { a: 1, b: 0 })])];
  expect(areAllEqual(different)).toBe(false);
});
