import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { InputError } from "../../core/input/input-error.ts";
import { replaceFile } from "../../core/input/replace-file.ts";
import { codeOf } from "../../core/input/system-error.ts";

/** The part of a result that is published. */
export interface PublishedResult {
  /** Digest of the whole result, for the keys of the jobs that need it. */
  readonly digest?: string | undefined;
  /** The numbers that the report shows. */
  readonly value?: unknown;
}

/** Results of finished jobs by key, so that others can continue without computing them again. */
export interface Published {
  find(key: string): PublishedResult | undefined;
}

/** A published result as a line of a file. */
export interface PublishedLine extends PublishedResult {
  readonly key: string;
}

/** Half of a SHA-256 is enough to tell keys apart, and cannot be compressed. */
const KEY_LENGTH = 32;
const EXTENSION = ".jsonl.gz";

/** A folder of compressed files with one JSON object per line. */
export class PublishedFolder implements Published {
  readonly #results: ReadonlyMap<string, PublishedResult>;

  private constructor(results: ReadonlyMap<string, PublishedResult>) {
    this.#results = results;
  }

  static async open(folder: string): Promise<PublishedFolder> {
    const results = new Map<string, PublishedResult>();
    for (const name of await publishedFiles(folder)) {
      for (const { key, ...result } of await readLines(join(folder, name))) {
        results.set(key, result);
      }
    }
    return new PublishedFolder(results);
  }

  find(key: string): PublishedResult | undefined {
    return this.#results.get(key.slice(0, KEY_LENGTH));
  }
}

async function publishedFiles(folder: string): Promise<string[]> {
  const problem = (text: string) =>
    new InputError(
      { file: folder },
      text,
      "name a folder that joust reproduce --publish has written",
    );
  const names = await readdir(folder).catch((error) => {
    throw problem(`cannot be read (${codeOf(error) || error})`);
  });
  const found = names.filter((name) => name.endsWith(EXTENSION));
  if (found.length === 0) throw problem(`has no files *${EXTENSION}`);
  return found.sort();
}

async function readLines(file: string): Promise<PublishedLine[]> {
  try {
    const text = gunzipSync(await readFile(file)).toString("utf8");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as PublishedLine);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InputError({ file }, `is damaged: ${reason}`, "get the file again");
  }
}

/** Writes a file. Equal lines give equal bytes. */
export async function writePublished(
  folder: string,
  name: string,
  lines: readonly PublishedLine[],
): Promise<void> {
  const text = lines.map(({ key, ...result }) =>
    JSON.stringify({ key: key.slice(0, KEY_LENGTH), ...result }),
  );
  const bytes = gzipSync(`${text.join("\n")}\n`, { level: 9 });
  await replaceFile(join(folder, `${name}${EXTENSION}`), bytes);
}
