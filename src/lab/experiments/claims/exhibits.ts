/** Where a claim can be seen: the first exhibit whose id matches. Without one it is seen in its experiment. */
const RUNS = /^routerbench-.*_E\d+-\d+$/;
const TABLE = /^routerbench-.*-table$/;
const UNSEEN = /^unseen-.*_E\d+$/;

/** By the claim's number. */
export const exhibits: ReadonlyMap<number, RegExp> = new Map([
  [4, /^mmlu-tsne$/],
  [7, /^linear-/],
  [8, RUNS],
  [9, RUNS],
  [10, RUNS],
  [11, RUNS],
  [12, RUNS],
  [13, RUNS],
  [14, /^routerbench-.*-all$/],
  [15, /^routerbench-lambda$/],
  [16, /^routerbench-variations$/],
  [17, /^routerbench-.*-choices$/],
  [18, UNSEEN],
  [19, UNSEEN],
  [20, UNSEEN],
  [21, UNSEEN],
  [24, /^mixinstruct-.*-drops$/],
  [26, /^unseen-change$/],
  [27, /^routerbench-single$/],
  [28, /^routerbench-pointwise$/],
  [29, TABLE],
  [30, TABLE],
  [31, RUNS],
]);
