import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { checksum } from "../../core/input/checksum.ts";
import { InputError } from "../../core/input/input-error.ts";
import { PACKAGE_ROOT } from "../../core/input/project.ts";
import { mmluFiles } from "../data/mmlu.ts";
import type { FileRef } from "../jobs/job.ts";

/** The queries of one experiment. */
interface Source {
  readonly files: readonly FileRef[];
  /** One sentence for the report. */
  readonly note: string;
  /** Description of the data, if it is not the paper's. */
  readonly standIn?: string;
}

interface MmluSource extends Source {
  readonly topics: readonly string[];
}

export interface RouterbenchSource {
  readonly scores: FileRef;
  /** The same queries in different words, the paper's form first. */
  readonly forms: readonly (Source & { readonly name: string })[];
  /** In the unseen experiment: queries of each known benchmark per section, and of ARC in the second. */
  readonly section: { readonly known: number; readonly arc: number };
  readonly standIn?: string;
}

export interface MixInstructSource extends Source {
  readonly title: string;
  readonly scores?: FileRef;
  /** Seed of the verdicts, if they are drawn because no judge has given any. */
  readonly verdicts?: number;
  readonly pools: readonly { readonly name: string; readonly exclude: readonly string[] }[];
}

/** The reason why an experiment has no data. */
interface Missing {
  readonly missing: string;
}

export interface DataSets {
  readonly mmlu: MmluSource | Missing;
  readonly routerbench: RouterbenchSource | Missing;
  readonly mixinstruct: MixInstructSource | Missing;
  /** Paths by SHA-256. */
  readonly paths: Readonly<Record<string, string>>;
}

const OWN = resolve(PACKAGE_ROOT, "data");
const TOPICS = [
  "abstract_algebra",
  "anatomy",
  "astronomy",
  "international_law",
  "machine_learning",
];
/** The five most different of the seven categories of the project's own questions. */
const OWN_TOPICS = ["mbpp", "hellaswag", "winogrande", "gsm8k", "mmlu"];

/** Finds the public data sets in a folder. Without a folder the project's own questions stand in for all. */
export async function findDataSets(folder: string | undefined): Promise<DataSets> {
  const files = new Files();
  if (folder !== undefined && !existsSync(folder)) {
    throw new InputError(
      { file: "--data" },
      `${folder} does not exist`,
      "name the folder of the data sets, or leave it out: the project's own questions stand in",
    );
  }
  const scores = await files.add(join(OWN, "scores", "routerbench.csv"));
  const sets =
    folder === undefined ? await ownSets(files, scores) : await publicSets(folder, files, scores);
  const lacks = Object.values(sets).flatMap((set) => ("missing" in set ? [set.missing] : []));
  if (lacks.length === Object.keys(sets).length) {
    throw new InputError(
      { file: "--data" },
      `${folder} has none of the data sets: ${lacks.join("; ")}`,
      "name the folder that has them, or leave it out: the project's own questions stand in",
    );
  }
  return { ...sets, paths: files.paths };
}

type Sets = Omit<DataSets, "paths">;

const STAND_IN = "MixInstruct's stand-in";

async function ownSets(files: Files, scores: FileRef): Promise<Sets> {
  const own = await files.all([
    join(OWN, "queries.jsonl"),
    join(OWN, "free-form", "exemplars.jsonl"),
  ]);
  const note =
    "The project's own 490 questions, 70 in each of seven categories, stand in for the data.";
  const standIn = "the project's own questions";
  return {
    mmlu: {
      files: own,
      topics: OWN_TOPICS,
      standIn,
      note: `${note} Five of the categories serve as topics.`,
    },
    routerbench: {
      scores,
      standIn,
      forms: [{ name: "own", files: own, note }],
      section: { known: 27, arc: 54 },
    },
    mixinstruct: {
      title: STAND_IN,
      standIn: `${standIn}, verdicts drawn from the Perf table`,
      files: own,
      scores,
      verdicts: 1,
      pools: [{ name: "all", exclude: ["gpt-4"] }],
      note: `${note} Verdicts on every pair of models, in both orders, are drawn by BTL with vote scale 10 from RouterBench's Perf: no judge has seen any answer.`,
    },
  };
}

async function publicSets(folder: string, files: Files, scores: FileRef): Promise<Sets> {
  return {
    mmlu: await mmluIn(join(folder, "mmlu"), files),
    routerbench: await routerbenchIn(join(folder, "routerbench-queries"), files, scores),
    mixinstruct: await mixinstructIn(folder, files),
  };
}

async function mmluIn(folder: string, files: Files): Promise<MmluSource | Missing> {
  const places = [join(folder, "five_topics_classic_csv"), folder].filter((place) =>
    existsSync(place),
  );
  for (const place of places) {
    const found = await mmluFiles(place).catch(() => []);
    if (found.length === 0) continue;
    const note = "MMLU's five topics of the paper, test and dev.";
    return { files: await files.all(found), topics: TOPICS, note };
  }
  return missing("mmlu", "*_test.csv and *_dev.csv");
}

async function routerbenchIn(
  folder: string,
  files: Files,
  scores: FileRef,
): Promise<RouterbenchSource | Missing> {
  const found = FORMS.filter(({ file }) => existsSync(join(folder, file)));
  if (found.length === 0)
    return missing("routerbench-queries", FORMS.map(({ file }) => file).join(" or "));
  const forms = found.map(async ({ name, file, note }) => {
    return { name, note, files: await files.all([join(folder, file)]) };
  });
  const isReleased = found[0]!.name === RELEASED;
  return {
    scores,
    forms: await Promise.all(forms),
    section: { known: 60, arc: 120 },
    ...(!isReleased && { standIn: "its MMLU, GSM8K, HellaSwag and MBPP texts differ" }),
  };
}

const RELEASED = "released";

const FORMS = [
  {
    name: RELEASED,
    file: "queries_routerbench.jsonl",
    note: "RouterBench's released zero-shot prompts (joust data get routerbench).",
  },
  {
    name: "rbprompt",
    file: "queries_rbprompt.jsonl.gz",
    note: "A stand-in for RouterBench's prompts: questions of the same seven benchmarks in RouterBench's wording, which gives the benchmark away. Its MMLU, GSM8K, HellaSwag and MBPP texts differ from RouterBench's.",
  },
  {
    name: "natural",
    file: "queries.jsonl.gz",
    note: "The same stand-in without RouterBench's wording: the questions alone.",
  },
];

async function mixinstructIn(folder: string, files: Files): Promise<MixInstructSource | Missing> {
  const own = join(folder, "mixinstruct");
  const names = await readdir(own).catch((): string[] => []);
  const [name] = names.filter((one) => /\.jsonl(\.gz)?$/.test(one)).sort();
  if (name !== undefined) {
    return {
      title: "MixInstruct",
      files: await files.all([join(own, name)]),
      pools: [{ name: "all", exclude: [] }],
      note: `MixInstruct's own file ${name}.`,
    };
  }
  const standIn = join(folder, "qlora-gpt4-pairwise", "oa953_7models_gpt4_pairwise.jsonl.gz");
  if (!existsSync(standIn)) return missing("mixinstruct", "jsonl with cmp_results");
  return {
    title: STAND_IN,
    standIn: "953 OpenAssistant prompts, 7 models, judged by GPT-4",
    files: await files.all([standIn]),
    pools: [
      { name: "all", exclude: [] },
      { name: "without gpt-4", exclude: ["gpt-4"] },
    ],
    note: "A stand-in for MixInstruct: GPT-4's verdicts on both orders of nearly all pairs of 7 models, over 953 prompts more than half of which are not English. GPT-4 itself is one of the models and the best one on two thirds of the queries, so every curve is also run without it.",
  };
}

function missing(folder: string, what: string): Missing {
  return { missing: `no ${what} in ${folder}/ of the data folder` };
}

/** Collects the paths of files by their SHA-256. */
class Files {
  readonly paths: Record<string, string> = {};

  async add(path: string): Promise<FileRef> {
    const sha256 = await checksum([path]);
    this.paths[sha256] = resolve(path);
    return { name: basename(path), sha256 };
  }

  all(paths: readonly string[]): Promise<FileRef[]> {
    return Promise.all(paths.map((path) => this.add(path)));
  }
}
