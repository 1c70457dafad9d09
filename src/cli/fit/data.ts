/** Reads the data of `joust fit`: a file, or the log of a router. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { checksum } from "../../core/input/checksum.ts";
import { linesOf } from "../../core/input/lines.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { votes } from "../../lab/data/formats.ts";
import { datasetOf, loadDataset } from "../../lab/data/load.ts";
import type { Row } from "../../lab/data/row.ts";
import { filesOf } from "../../lab/simulate/source.ts";
import { exportVotes } from "../../learner/export-votes.ts";
import { storeKey, withRouter } from "../shared/store-flags.ts";
import type { FitFlags } from "./flags.ts";

export interface FitData {
  readonly dataset: Dataset;
  /** Name of the data in messages. */
  readonly title: string;
  /** The file, which simulate accepts too; undefined for a log. */
  readonly file?: string | undefined;
  /** File names and checksums, which the bundle records. */
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

/** Reads the votes of a log. `place` is the data folder of joust serve or a PostgreSQL address. */
function readLog(place: string, flag: string | undefined) {
  const flags = place.includes("://") ? { database: place } : { data: place };
  return withRouter({ ...flags, router: flag }, async (store, router) => {
    const title = `the log of ${router}`;
    const hash = createHash("sha256");
    const exported = async function* () {
      for await (const line of exportVotes(store, router, storeKey(process.env))) {
        hash.update(`${line}\n`);
        yield `${line}\n`;
      }
    };
    const rows: Row[] = [];
    for await (const row of votes.rows(title, linesOf(exported()))) rows.push(row);
    return { rows, title, sha256: hash.digest("hex") };
  });
}
