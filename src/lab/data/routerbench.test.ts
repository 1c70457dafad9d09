import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { jsonl } from "./load.fixture.ts";
import { loadDataset } from "./load.ts";
import { readTexts, type Text } from "./texts.ts";

const write = temporaryFolder();

/** Rows as pandas reads them from RouterBench's released pickle. One lacks a score. */
const ROWS = [
  {
    sample_id: "mmlu-law.val.1",
    prompt: ["Why?\nA) yes"],
    eval_name: "mmlu-law",
    "gpt-4": 1,
    yi: 0,
    "yi|model_response": "no",
    "gpt-4|total_cost": 0.002,
    "yi|total_cost": 0.0001,
  },
  {
    sample_id: "grade-school-math.dev.2",
    prompt: ["TASK: solve", "2+2?"],
    eval_name: "grade-school-math",
    "gpt-4": 0.75,
    yi: 1,
    "yi|model_response": "4",
    "gpt-4|total_cost": 0.01,
    "yi|total_cost": 0,
  },
  {
    sample_id: "mbpp.dev.3",
    prompt: ['It\'s "late"'],
    eval_name: "mbpp",
    "gpt-4": null,
    yi: 1,
    "yi|model_response": "x",
    "gpt-4|total_cost": 0.01,
    "yi|total_cost": 0,
  },
];

/** The same rows as pandas writes them with to_csv. */
const CSV = String.raw`sample_id,prompt,eval_name,gpt-4,yi,yi|model_response,gpt-4|total_cost,yi|total_cost
mmlu-law.val.1,['Why?\nA) yes'],mmlu-law,1.0,0.0,no,0.002,0.0001
grade-school-math.dev.2,"['TASK: solve', '2+2?']",grade-school-math,0.75,1.0,4,0.01,0.0
mbpp.dev.3,"['It\'s ""late""']",mbpp,,1.0,x,0.01,0.0
`;

/** The same rows as pyarrow writes them, compressed with snappy and with zstd. */
const SNAPPY = `
UEFSMRUAFYIBFYgBLBUGFQAVBhUGHAAAAEHwQAIAAAAGAQ4AAABtbWx1LWxhdy52YWwuMRcAAABncmFkZS1zY2hvb2wtbWF0
aC5kZXYuMgoAAABtYnBwLmRldi4zFQAVggEVhAEsFQgVABUGFQYcAAAAQRQCAAAAAwQBBtgIAwsAAABXaHk/CkEpIHllcwsA
AABUQVNLOiBzb2x2ZQQAAAAyKzI/CwAAAEl0J3MgImxhdGUiFQAVXhViLBUGFQAVBhUGHAAAAC+4AgAAAAYBCAAAAG1tbHUt
bGF3EQAAAGdyYWRlLXNjaG9vbC1tYXRoBAAAAG1icHAVABUsFTAsFQYVABUGFQYcAAAAFlQCAAAAAwMAAAAAAADwPwAAAAAA
AOg/FQAVPBUuLBUGFQAVBhUGHAAAAB4YAgAAAAYBADIBACTwPwAAAAAAAPA/FQAVLBUuLBUGFQAVBhUGHAAAABYUAgAAAAYB
AQYsbm8BAAAANAEAAAB4FQAVPBVALBUGFQAVBhUGHAAAAB50AgAAAAYB/Knx0k1iYD97FK5H4XqEP3sUrkfheoQ/FQAVPBVA
LBUGFQAVBhUGHAAAAB50AgAAAAYBLUMc6+I2Gj8AAAAAAAAAAAAAAAAAAAAAFQQZvDUAGAZzY2hlbWEVEAAVDCUCGAlzYW1w
bGVfaWQlAEwcAAAANQIYBnByb21wdBUCFQZMPAAAADUEGARsaXN0FQIAFQwlAhgHZWxlbWVudCUATBwAAAAVDCUCGAlldmFs
X25hbWUlAEwcAAAAFQolAhgFZ3B0LTQAFQolAhgCeWkAFQwlAhgReWl8bW9kZWxfcmVzcG9uc2UlAEwcAAAAFQolAhgQZ3B0
LTR8dG90YWxfY29zdAAVCiUCGA15aXx0b3RhbF9jb3N0ABYGGRwZjCYAHBUMGSUGABkYCXNhbXBsZV9pZBUCFgYWrAEWsgEm
CEkcFQAVABUCADwWXhkGGSYABgAAACYAHBUMGSUGABk4BnByb21wdARsaXN0B2VsZW1lbnQVAhYIFqwBFq4BJroBSRwVABUA
FQIAPBZKGSYGAhlGAAAACAAAACYAHBUMGSUGABkYCWV2YWxfbmFtZRUCFgYWhAEWiAEm6AJJHBUAFQAVAgA8FjoZBhkmAAYA
AAAmABwVChklBgAZGAVncHQtNBUCFgYWUhZWJvADSRwVABUAFQIAPCkGGSYCBAAAACYAHBUKGSUGABkYAnlpFQIWBhZiFlQm
xgRJHBUAFQAVAgA8KQYZJgAGAAAAJgAcFQwZJQYAGRgReWl8bW9kZWxfcmVzcG9uc2UVAhYGFlIWVCaaBUkcFQAVABUCADwW
CBkGGSYABgAAACYAHBUKGSUGABkYEGdwdC00fHRvdGFsX2Nvc3QVAhYGFmIWZibuBUkcFQAVABUCADwpBhkmAAYAAAAmABwV
ChklBgAZGA15aXx0b3RhbF9jb3N0FQIWBhZiFmYm1AZJHBUAFQAVAgA8KQYZJgAGAAAAFqYHFgYmCBayBwAoIHBhcnF1ZXQt
Y3BwLWFycm93IHZlcnNpb24gMjYuMC4xGYwcAAAcAAAcAAAcAAAcAAAcAAAcAAAcAAAA1gIAAFBBUjE=`;
const ZSTD = `
UEFSMRUAFYIBFZQBLBUGFQAVBhUGHAAAACi1L/0gQQkCAAIAAAAGAQ4AAABtbWx1LWxhdy52YWwuMRcAAABncmFkZS1zY2hv
b2wtbWF0aC5kZXYuMgoAAABtYnBwLmRldi4zFQAVggEVlAEsFQgVABUGFQYcAAAAKLUv/SBBCQIAAgAAAAMEAgAAAAgDCwAA
AFdoeT8KQSkgeWVzCwAAAFRBU0s6IHNvbHZlBAAAADIrMj8LAAAASXQncyAibGF0ZSIVABVeFXAsFQYVABUGFQYcAAAAKLUv
/SAveQEAAgAAAAYBCAAAAG1tbHUtbGF3EQAAAGdyYWRlLXNjaG9vbC1tYXRoBAAAAG1icHAVABUsFT4sFQYVABUGFQYcAAAA
KLUv/SAWsQAAAgAAAAMDAAAAAAAA8D8AAAAAAADoPxUAFTwVQCwVBhUAFQYVBhwAAAAotS/9IB69AACIAgAAAAYBAPA/AAAA
AAAA8D8BAAcwAhUAFSwVPiwVBhUAFQYVBhwAAAAotS/9IBaxAAACAAAABgECAAAAbm8BAAAANAEAAAB4FQAVPBVOLBUGFQAV
BhUGHAAAACi1L/0gHvEAAAIAAAAGAfyp8dJNYmA/exSuR+F6hD97FK5H4XqEPxUAFTwVPCwVBhUAFQYVBhwAAAAotS/9IB6t
AAB4AgAAAAYBLUMc6+I2Gj8AAQAdqAMVBBm8NQAYBnNjaGVtYRUQABUMJQIYCXNhbXBsZV9pZCUATBwAAAA1AhgGcHJvbXB0
FQIVBkw8AAAANQQYBGxpc3QVAgAVDCUCGAdlbGVtZW50JQBMHAAAABUMJQIYCWV2YWxfbmFtZSUATBwAAAAVCiUCGAVncHQt
NAAVCiUCGAJ5aQAVDCUCGBF5aXxtb2RlbF9yZXNwb25zZSUATBwAAAAVCiUCGBBncHQtNHx0b3RhbF9jb3N0ABUKJQIYDXlp
fHRvdGFsX2Nvc3QAFgYZHBmMJgAcFQwZJQYAGRgJc2FtcGxlX2lkFQwWBhasARa+ASYISRwVABUAFQIAPBZeGQYZJgAGAAAA
JgAcFQwZJQYAGTgGcHJvbXB0BGxpc3QHZWxlbWVudBUMFggWrAEWvgEmxgFJHBUAFQAVAgA8FkoZJgYCGUYAAAAIAAAAJgAc
FQwZJQYAGRgJZXZhbF9uYW1lFQwWBhaEARaWASaEA0kcFQAVABUCADwWOhkGGSYABgAAACYAHBUKGSUGABkYBWdwdC00FQwW
BhZSFmQmmgRJHBUAFQAVAgA8KQYZJgIEAAAAJgAcFQoZJQYAGRgCeWkVDBYGFmIWZib+BEkcFQAVABUCADwpBhkmAAYAAAAm
ABwVDBklBgAZGBF5aXxtb2RlbF9yZXNwb25zZRUMFgYWUhZkJuQFSRwVABUAFQIAPBYIGQYZJgAGAAAAJgAcFQoZJQYAGRgQ
Z3B0LTR8dG90YWxfY29zdBUMFgYWYhZ0JsgGSRwVABUAFQIAPCkGGSYABgAAACYAHBUKGSUGABkYDXlpfHRvdGFsX2Nvc3QV
DBYGFmIWYia8B0kcFQAVABUCADwpBhkmAAYAAAAWpgcWBiYIFpYIACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4w
LjEZjBwAABwAABwAABwAABwAABwAABwAABwAAADWAgAAUEFSMQ==`;

const EXPECTED = {
  models: ["gpt-4", "yi"],
  categories: ["mmlu", "gsm8k"],
  queries: [
    {
      id: "mmlu-law.val.1",
      text: "Why?\nA) yes",
      category: 0,
      scores: Float64Array.of(1, 0),
      costs: Float64Array.of(0.002, 0.0001),
    },
    {
      id: "grade-school-math.dev.2",
      text: "TASK: solve\n2+2?",
      category: 1,
      scores: Float64Array.of(0.75, 1),
      costs: Float64Array.of(0.01, 0),
    },
  ],
};

describe("RouterBench's released rows", () => {
  it.each([
    ["rb.jsonl", jsonl(...ROWS)],
    ["rb.jsonl.gz", jsonl(...ROWS)],
    ["rb.json", JSON.stringify(ROWS)],
    ["rb.csv", CSV],
    ["rb.csv.gz", CSV],
    ["rb.parquet", Buffer.from(SNAPPY, "base64")],
    ["rb-zstd.parquet", Buffer.from(ZSTD, "base64")],
  ])("are read from %s", async (name, content) => {
    expect(await loadDataset(write(name, content))).toEqual(EXPECTED);
  });

  it("are read as texts from Parquet and from a JSON array", async () => {
    const files = [
      write("texts.parquet", Buffer.from(SNAPPY, "base64")),
      write("texts.json", JSON.stringify(ROWS)),
    ];
    for (const file of files) {
      const texts: Text[] = [];
      for await (const one of readTexts(file)) texts.push(one);
      expect(texts).toEqual(EXPECTED.queries.map(({ id, text }) => ({ id, text })));
    }
  });

  it.each([
    ["a score above 1", { "gpt-4": 80 }, /rb-bad.jsonl:1: field "gpt-4": is 80; hint: a row is/],
    ["a score that is text", { yi: "good" }, /field "yi": is "good"/],
    ["a negative cost", { "yi|total_cost": -1 }, /field "yi\|total_cost": is -1/],
    ["an empty prompt", { prompt: [" "] }, /field "prompt(\[0\])?"/],
  ])("names file, line and field of %s", async (_, change, message) => {
    const file = write("rb-bad.jsonl", jsonl({ ...ROWS[0], ...change }));
    await expect(loadDataset(file)).rejects.toThrow(errorText(message));
  });

  it("need a column of costs for each model", async () => {
    const row = { sample_id: "a", prompt: "q", eval_name: "mbpp", "gpt-4": 1 };
    await expect(loadDataset(write("rb-bare.jsonl", jsonl(row)))).rejects.toThrow(
      errorText("is missing for every model M"),
    );
  });

  it("a damaged Parquet file is named, with a remedy", async () => {
    const whole = Buffer.from(SNAPPY, "base64");
    for (const bytes of [whole.subarray(0, 600), Buffer.from("not Parquet at all")]) {
      await expect(loadDataset(write("damaged.parquet", bytes))).rejects.toThrow(
        errorText(/damaged.parquet: cannot be read as Parquet .*to_parquet/),
      );
    }
  });
});
