/** Packs texts into the inputs of an encoder graph. */
import type { Architecture } from "../model/architecture.ts";
import type { Pooling } from "../model/modules.ts";

export interface Feed {
  readonly dims: readonly number[];
  readonly data: Float32Array | Int32Array;
}

export interface PackOptions {
  readonly architecture: Architecture;
  readonly pooling: Pooling;
  /** Number of groups of the graph. */
  readonly groups: number;
}

/**
 * Returns the inputs of `encoderGraph` for texts given as token ids. Texts of
 * similar length form a group and are padded to one length. Row k of the graph's
 * result is text k. If there are more groups than texts, the remaining groups hold
 * one token of padding.
 */
export function packTexts(
  texts: readonly ArrayLike<number>[],
  { architecture, pooling, groups }: PackOptions,
): Map<string, Feed> {
  const lengths = texts.map((ids) => ids.length);
  const filled = Math.min(groups, texts.length);
  const cut = [
    ...cutByLength(lengths, filled),
    ...Array<Rectangle>(groups - filled).fill({ texts: [], tokens: 1 }),
  ];
  const N = cut.reduce((sum, group) => sum + rowsOf(group) * group.tokens, 0);
  const ids = new Int32Array(N).fill(texts[0]![0]!); // padding may be any word that occurs
  const positions = new Int32Array(N);
  const columns = pooling === "max" ? cut.reduce((sum, group) => sum + rowsOf(group), 0) : N;
  const pool = new Float32Array(texts.length * columns);
  const feeds = new Map<string, Feed>([
    ["ids", { dims: [N], data: ids }],
    ["positions", { dims: [N], data: positions }],
    ["pool", { dims: [texts.length, columns], data: pool }],
  ]);
  let at = 0;
  let before = 0;
  for (const [g, group] of cut.entries()) {
    const { texts: members, tokens } = group;
    const mask = new Float32Array(rowsOf(group) * tokens).fill(MASKED);
    for (const [row, k] of members.entries()) {
      const text = texts[k]!;
      ids.set(text, at);
      positions.set(positionsOf(text, architecture), at);
      mask.fill(0, row * tokens, row * tokens + text.length);
      if (pooling === "mean") pool.fill(1 / text.length, k * N + at, k * N + at + text.length);
      else pool[k * columns + (pooling === "cls" ? at : before + row)] = 1;
      at += tokens;
    }
    before += members.length;
    feeds.set(`mask.${g}`, { dims: [rowsOf(group), tokens], data: mask });
  }
  return feeds;
}

/** exp(-1e9) is 0, so a masked token has neither weight nor gradient. */
const MASKED = -1e9;

/** BERT counts positions from 0. MPNet counts tokens other than padding from padTokenId + 1. */
function positionsOf(ids: ArrayLike<number>, { kind, padTokenId }: Architecture): number[] {
  let last = padTokenId;
  return Array.from(ids, (id, i) => {
    if (kind === "bert") return i;
    return id === padTokenId ? padTokenId : ++last;
  });
}

/** Indices of texts that are padded to the same length, and that length. */
interface Rectangle {
  readonly texts: readonly number[];
  readonly tokens: number;
}

function rowsOf({ texts }: Rectangle): number {
  return Math.max(1, texts.length);
}

/**
 * Sorts the texts by length and splits them into groups with the least padding, by
 * dynamic programming. The cost of the first e texts in g groups is the minimum,
 * over the start s of the last group, of cost(s, g - 1) + (e - s) * length(e).
 */
export function cutByLength(lengths: readonly number[], groups: number): Rectangle[] {
  const order = lengths.map((_, k) => k).sort((a, b) => lengths[a]! - lengths[b]!);
  const K = order.length;
  let cost = [0, ...Array<number>(K).fill(Infinity)];
  const begins: number[][] = [];
  for (let g = 0; g < groups; g++) {
    const next = Array<number>(K + 1).fill(Infinity);
    const begin = Array<number>(K + 1).fill(0);
    for (let e = 1; e <= K; e++) {
      for (let s = 0; s < e; s++) {
        const total = cost[s]! + (e - s) * lengths[order[e - 1]!]!;
        if (total < next[e]!) [next[e], begin[e]] = [total, s];
      }
    }
    cost = next;
    begins.push(begin);
  }
  const rectangles: Rectangle[] = [];
  let end = K;
  for (const begin of begins.reverse()) {
    const texts = order.slice(begin[end], end);
    rectangles.unshift({ texts, tokens: lengths[texts.at(-1)!]! });
    end = begin[end]!;
  }
  return rectangles;
}
