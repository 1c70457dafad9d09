/** What `fit` learns from: a file of data, or the log of a router that was served. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { checksum } from "../../core/input/checksum.ts";
import { linesOf } from "../../core/input/lines.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { datasetOf, loadDataset } from "../../lab/data/load.ts";
import type { Row } from "../../lab/data/row.ts";
import { votedRows } from "../../lab/data/votes.ts";
import { filesOf } from "../../lab/simulate/source.ts";
import { exportVotes } from "../../learner/export-votes.ts";
import { routerOf, withStore } from "../shared/store-flags.ts";
import { storeKey } from "../shared/store-key.ts";
import type { FitFlags } from "./settings.ts";

export interface FitData {
  readonly dataset: Dataset;
  /** What the screen calls it. */
  readonly title: string;
  /** The file, which simulate takes too; a log is none. */
  readonly file?: string | undefined;
  /** Names and checksums, for the bundle. */
  readonly sources: Readonly<Record<string, { readonly file: string; readonly sha256: string }>>;
}

export async function openFitData(data: string, flags: FitFlags): Promise<FitData> {
  const { scores, exclude, fromLog, router } = flags;
  const selection = { scores, exclude };
  if (fromLog) {
    const { rows, title, sha256 } = await readLog(data, router);
    const dataset = await datasetOf(rows, title, selection);
    return {
      dataset,
      title,
      sources: { data: { file: title, sha256 }, ...(await tableOf(scores)) },
    };
  }
  const dataset = await loadDataset(data, selection);
  const sources = { data: await sourceOf(data), ...(await tableOf(scores)) };
  return { dataset, title: basename(data), file: data, sources };
}

async function tableOf(scores: string | undefined) {
  return scores === undefined ? {} : { scores: await sourceOf(scores) };
}

async function sourceOf(path: string): Promise<{ file: string; sha256: string }> {
  return { file: basename(path), sha256: await checksum(await filesOf(path)) };
}

/** `place` is the data folder of joust serve, or the address of a PostgreSQL. */
function readLog(place: string, flag: string | undefined) {
  const store = place.includes("://") ? { database: place } : { data: place };
  return withStore(store, async (store) => {
    const router = await routerOf(store, flag);
    const title = `the log of ${router}`;
    const hash = createHash("sha256");
    const exported = async function* () {
      for await (const line of exportVotes(store, router, storeKey(process.env))) {
        hash.update(`${line}\n`);
        yield `${line}\n`;
      }
    };
    const rows: Row[] = [];
    for await (const row of votedRows(title, linesOf(exported()))) rows.push(row);
    return { rows, title, sha256: hash.digest("hex") };
  });
}
