import { checkedAt, InputError } from "../core/input/input-error.ts";
import { didYouMean } from "../core/input/nearest.ts";
import type { Voted } from "../store/events.ts";
import { checkName } from "../store/row.ts";
import type { Store } from "../store/store.ts";
import { toFloat32 } from "../store/vector.ts";
import { readVotes, type VoteLine } from "./votes-file.ts";

export interface ImportOptions {
  readonly encode: (texts: readonly string[]) => Promise<readonly Float64Array[]>;
  /** Name of the encoder in the log. */
  readonly encoder: string;
  /** Length of an embedding, if it is known. */
  readonly dimension?: number | undefined;
  /** The current time in milliseconds since 1970. */
  readonly time: () => number;
  readonly onProgress?: ((votes: number) => void) | undefined;
  /** Models of the router, if they are known. Votes on other models are refused. */
  readonly known?: readonly string[] | undefined;
  /** Whether to log votes on other models too. The router does not learn from them. */
  readonly allowUnknown?: boolean | undefined;
}

export interface Imported {
  readonly votes: number;
  /** Votes that were in the log already. */
  readonly repeated: number;
  /** Votes that are left out because they are as old as pruned votes, and so may have been learned before. */
  readonly tooOld: number;
  /** Votes on models that the router does not have, if there are any, and the names of these models. */
  readonly unknown?: UnknownModels | undefined;
}

interface UnknownModels {
  readonly votes: number;
  readonly models: readonly string[];
}

/** Logs the votes of a file. The whole file is checked before the first vote is logged. */
export async function importVotes(
  store: Store,
  router: string,
  file: string,
  options: ImportOptions,
): Promise<Imported> {
  const unknown = await checkFile(file, options);
  const count = { votes: 0, repeated: 0, tooOld: 0 };
  let batch: VoteLine[] = [];
  const flush = async () => {
    const votes = await eventsOf(router, batch, options);
    for (const receipt of await store.append(votes)) {
      if (receipt.status === "logged") count.votes++;
      else if (receipt.status === "refused" && receipt.reason === "unknown") count.tooOld++;
      else count.repeated++;
    }
    batch = [];
    options.onProgress?.(count.votes + count.repeated + count.tooOld);
  };
  for await (const line of readVotes(file)) {
    batch.push(line);
    if (batch.length === BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  return { ...count, unknown };
}

/** Checks all lines. Returns the votes on models that the router does not have, or refuses them. */
async function checkFile(file: string, options: ImportOptions): Promise<UnknownModels | undefined> {
  const { known, allowUnknown } = options;
  const names = new Set<string>();
  let [votes, first] = [0, 0];
  for await (const line of readVotes(file)) {
    checkLine(file, line, options);
    const others = known ? line.models.filter((model) => !known.includes(model)) : [];
    if (others.length === 0) continue;
    votes++;
    first ||= line.line;
    for (const name of others) names.add(name);
  }
  const models = [...names];
  if (votes === 0) return undefined;
  if (allowUnknown) return { votes, models };
  throw new InputError(
    { file, line: first },
    `${votes === 1 ? "one vote is" : `${votes} votes are`} on models that the router does not have: ${models.slice(0, SHOWN).join(", ")}${models.length > SHOWN ? ", ..." : ""}`,
    `${didYouMean(models[0]!, known!)}correct the names (the router has ${known!.join(", ")}), or add --allow-unknown to log these votes without learning from them`,
  );
}

/** Number of unknown models that an error names. */
const SHOWN = 10;

const BATCH = 256;

function checkLine(file: string, line: VoteLine, { encoder, dimension }: ImportOptions): void {
  const place = { file, line: line.line };
  if (line.encoder !== undefined && line.encoder !== encoder) {
    throw new InputError(
      { ...place, field: "encoder" },
      `is ${line.encoder}, but the router uses ${encoder}`,
      "replace x by the query, so that it is encoded again",
    );
  }
  if (line.x && dimension !== undefined && line.x.length !== dimension) {
    throw new InputError(
      { ...place, field: "x" },
      `has ${line.x.length} numbers, but embeddings of ${encoder} have ${dimension}`,
      "replace x by the query, so that it is encoded again",
    );
  }
  for (const name of [...line.models, ...(line.voter === "" ? [] : [line.voter])]) {
    checkedAt(place, () => checkName("name", name));
  }
}

async function eventsOf(
  router: string,
  lines: readonly VoteLine[],
  { encode, encoder, time }: ImportOptions,
): Promise<Voted[]> {
  const texts = lines.flatMap(({ query }) => (query === undefined ? [] : [query]));
  const embeddings = texts.length > 0 ? [...(await encode(texts))] : [];
  return lines.map(({ id, voter, verdict, weight, models, x, at }) => ({
    kind: "voted",
    router,
    at: time(),
    decision: id,
    voter,
    verdict,
    source: "import",
    weight,
    encoder,
    x: toFloat32(x ?? embeddings.shift()!),
    models,
    decided: at,
    cast: at,
  }));
}
