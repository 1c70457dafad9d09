import { describe, expect, it } from "vitest";
import { evaluate } from "../reference/operators.fixture.ts";
import { Graph } from "./graph.ts";
import { runInOnnxruntime } from "./session.fixture.ts";

describe("Graph", () => {
  it("accepts any length of a named dimension, and can reshape to it", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", ["rows", "columns"]);
    graph.define("both", ["rows", "columns"]);
    const flat = graph.reshape(x, ["both"]);
    const grid = graph.reshape(flat, ["columns", "rows", 1]);
    graph.output("grid", grid);
    graph.output("count", graph.count(["rows", "columns"]));
    graph.output("zeros", graph.zeros(["both", 2]));
    for (const [rows, columns] of [
      [2, 3],
      [4, 1],
    ] as const) {
      const data = Float32Array.from({ length: rows * columns }, (_, i) => i);
      const feeds = new Map([["x", { dims: [rows, columns], data }]]);
      expect(evaluate(graph, feeds).get("grid")!.dims).toEqual([columns, rows, 1]);
      const result = await runInOnnxruntime(graph, feeds);
      expect(result.get("grid")).toEqual(data);
      expect(result.get("count")).toEqual(Float32Array.of(rows * columns));
      expect(result.get("zeros")).toHaveLength(2 * rows * columns);
    }
  });

  it("accepts an input, a constant, or one value twice as an output", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2]);
    const y = graph.add(x, graph.scalar(1));
    for (const name of ["y", "again"]) graph.output(name, y);
    graph.output("input", x);
    graph.output("constant", graph.scalar(5));
    const result = await runInOnnxruntime(
      graph,
      new Map([["x", { dims: [2], data: Float32Array.of(3, 4) }]]),
    );
    expect(Object.fromEntries(result)).toEqual({
      y: Float32Array.of(4, 5),
      again: Float32Array.of(4, 5),
      input: Float32Array.of(3, 4),
      constant: Float32Array.of(5),
    });
  });

  it("rejects shapes that do not fit", () => {
    const graph = new Graph();
    const a = graph.input("a", "float32", ["N", 3]);
    const b = graph.input("b", "float32", ["M", 3]);
    expect(() => graph.add(a, b)).toThrow("[N,3] and [M,3] do not broadcast");
    expect(() => graph.gemm(a, b)).toThrow("gemm: inner dimensions 3 and M differ");
    expect(() => graph.matmul(a, b)).toThrow("matmul: inner dimensions 3 and M differ");
    expect(() => graph.zeros(["L"])).toThrow("no input has the dimension L");
  });
});
