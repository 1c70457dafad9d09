/** The public data sets that `joust data get` downloads. */

/** A public file with its pinned content. */
export interface PublicFile {
  /** Path within the folder of the data set. */
  readonly path: string;
  /** Path on the server. */
  readonly remote: string;
  /** Undefined if no published record states it. */
  readonly size?: number;
  readonly sha256: string;
  /** Where the checksum is from. */
  readonly pin: Pin;
}

/**
 * `computed`: the checksum was computed from the file itself. `quoted`: other projects that
 * downloaded the file state this checksum; where there are several, they agree.
 */
type Pin = "computed" | "quoted";

export interface DataSource {
  readonly title: string;
  /** Folder below `--out`, where `joust reproduce --data` looks for the data set. */
  readonly folder: string;
  /** Server that has the files, unless `--base` names another. */
  readonly base: string;
  /** Page that describes the data. */
  readonly page: string;
  readonly licence: string;
  readonly files: readonly PublicFile[];
  /** Command to run next. */
  readonly next: string;
}

export const DATA_NAMES = ["routerbench", "mmlu", "mixinstruct", "llmrouter"] as const;
export type DataName = (typeof DATA_NAMES)[number];

const HUGGING_FACE = "https://huggingface.co";
const LLMROUTER = "ulab-uiuc/LLMRouter/4e7a796942ce26e9d5f2b93191c7c2585c99c2e3/data";

export const DATA_SOURCES: Readonly<Record<DataName, DataSource>> = {
  routerbench: {
    title: "RouterBench, zero-shot: 11 models on 36,497 prompts",
    folder: "routerbench",
    base: HUGGING_FACE,
    page: "https://huggingface.co/datasets/withmartian/routerbench",
    licence: "its authors state none: check before you redistribute it",
    files: [
      {
        path: "routerbench_0shot.pkl",
        remote:
          "datasets/withmartian/routerbench/resolve/784021482c3f320c6619ed4b3bb3b41a21424fcb/routerbench_0shot.pkl",
        size: 99_567_659,
        sha256: "ba4f77f19517610a707c374e99322d7750c30fc4ae7ff5527888595a1e65d36d",
        pin: "quoted",
      },
    ],
    next: "cd DIR/routerbench && python -c \"import pandas; pandas.read_pickle('routerbench_0shot.pkl').to_json('routerbench_0shot.jsonl', orient='records', lines=True)\", then the same command again, which makes the queries of joust reproduce",
  },
  mmlu: {
    title: "MMLU: questions of 57 subjects with four options each",
    folder: "mmlu",
    base: "https://people.eecs.berkeley.edu",
    page: "https://github.com/hendrycks/test",
    licence: "MIT",
    files: [
      {
        path: "data.tar",
        remote: "~hendrycks/data.tar",
        size: 166_184_960,
        sha256: "bec563ba4bac1d6aaf04141cd7d1605d7a5ca833e38f994051e818489592989b",
        pin: "quoted",
      },
    ],
    next: "joust reproduce mmlu --data DIR",
  },
  mixinstruct: {
    title: "MixInstruct, test split: ChatGPT's verdicts on pairs of 11 models",
    folder: "mixinstruct",
    base: HUGGING_FACE,
    page: "https://huggingface.co/datasets/llm-blender/mix-instruct",
    licence: "MIT",
    files: [
      {
        path: "test_data_prepared.jsonl",
        remote:
          "datasets/llm-blender/mix-instruct/resolve/c7f77a4ef0515a99d1752c6387c22366d6922da6/test_data_prepared.jsonl",
        sha256: "eda4a320757876a37dfcecb21ec9a53a55bd4e3ad620216c3c777f5b542dfc78",
        pin: "quoted",
      },
    ],
    next: "joust reproduce mixinstruct --data DIR",
  },
  llmrouter: {
    title: "LLMRouter: scores of 9 models on 6,108 queries of 14 tasks",
    folder: "llmrouter-9models",
    base: "https://raw.githubusercontent.com",
    page: "https://github.com/ulab-uiuc/LLMRouter",
    licence: "MIT",
    files: [
      {
        path: "train.json",
        remote: `${LLMROUTER}/dcrouter_preprocessed/train.json`,
        size: 4_018_466,
        sha256: "ad3ae70149998f02cbf0dd4557ccb6afcf365ac9391b7371329ffc22201e90e3",
        pin: "computed",
      },
      {
        path: "test.json",
        remote: `${LLMROUTER}/dcrouter_preprocessed/test.json`,
        size: 361_757,
        sha256: "fbb6d3e3f62c7018e5446d3154cc05812d3124381f774738e9f0bac5bff79c79",
        pin: "computed",
      },
      {
        path: "default_query_train.jsonl",
        remote: `${LLMROUTER}/example_data/query_data/default_query_train.jsonl`,
        size: 3_519_579,
        sha256: "f1b2e3281dc3f9e082016812e1a778ca30e9828c7e58fa0a9f6dc52350ad4b8c",
        pin: "computed",
      },
      {
        path: "default_query_test.jsonl",
        remote: `${LLMROUTER}/example_data/query_data/default_query_test.jsonl`,
        size: 405_273,
        sha256: "0fdf4b4236fb81c1a673a01950fb974e02599c83164b0e7832888aefaa490e27",
        pin: "computed",
      },
    ],
    next: "joust simulate DIR/llmrouter-9models/llmrouter_9models.jsonl",
  },
};
