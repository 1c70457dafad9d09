import { describe, expect, it } from "vitest";
import type { OpenEncoder } from "../../core/encoder/open-encoder.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { SCORED, TABLED } from "../../lab/simulate/world.fixture.ts";
import type { FitFlags } from "./flags.ts";
import { checkFlags, checkScores, settingsOf } from "./settings.ts";

const write = temporaryFolder();
const OUT = { out: "out" };

function encoder(kind: OpenEncoder["kind"]): OpenEncoder {
  const close = async () => {};
  return {
    kind,
    name: kind,
    dimension: 1,
    identity: "",
    named: true,
    encode: async () => [],
    close,
  };
}

const COMPARED: Dataset = {
  ...SCORED,
  queries: SCORED.queries.map(({ costs, ...query }) => {
    return { ...query, comparisons: [{ a: 0, b: 1, outcome: "a" }] };
  }),
};

describe("settings of a fit", () => {
  it("are those of the paper for a transformer", () => {
    expect(settingsOf(OUT, TABLED, encoder("transformer"))).toEqual({
      weighting: "excel_perf_cost",
      tau: 3,
      lambda: 0.05,
      temperature: 1,
      epochs: 4,
      batch: 16,
      learningRate: 2e-5,
      seed: 1,
    });
  });

  it("have no epochs if the encoder cannot be trained", () => {
    for (const kind of ["hash", "openai"] as const) {
      expect(settingsOf(OUT, TABLED, encoder(kind)).epochs).toBe(0);
    }
  });

  it("weigh comparisons by labels, and use the given options", () => {
    expect(settingsOf(OUT, COMPARED, encoder("hash")).weighting).toBe("labels");
    const flags: FitFlags = {
      out: "out",
      weighting: "perf",
      temperature: 0.2,
      epochs: 2,
      learningRate: 1,
      seed: 7,
    };
    expect(settingsOf(flags, COMPARED, encoder("transformer"))).toMatchObject({
      weighting: "perf",
      temperature: 0.2,
      epochs: 2,
      learningRate: 1,
      seed: 7,
    });
  });

  it.each<[string, Partial<FitFlags>, Dataset, string]>([
    [
      "a learning rate without training",
      { learningRate: 1 },
      TABLED,
      "--learning-rate: has no effect",
    ],
    [
      "training an encoder that cannot be trained",
      { epochs: 1 },
      TABLED,
      "--encoder: hash cannot be fine-tuned",
    ],
    [
      "an option without effect",
      { tau: 2, weighting: "perf" },
      TABLED,
      "--tau: has no effect with the weighting perf; hint: remove it, or give --weighting excel",
    ],
    [
      "a weight of unknown costs",
      { lambda: 1, weighting: "perf_cost" },
      COMPARED,
      "--lambda: needs",
    ],
    [
      "more excelling models than models",
      { tau: 4 },
      TABLED,
      "--tau: is 4, but there are only 3 models",
    ],
  ])("refuse %s", (_, flags, dataset, message) => {
    const read = () => settingsOf({ ...OUT, ...flags }, dataset, encoder("hash"));
    expect(read).toThrow(InputError);
    expect(read).toThrow(errorText(message));
  });
});

it("refuses --resume with --overwrite, and a bundle or 8 bits as the start", () => {
  expect(() => checkFlags({ ...OUT, resume: true, overwrite: true })).toThrow(
    errorText("give only one of them"),
  );
  write("bundle/bundle.json", "{}");
  const bundle = write("bundle/x", "").slice(0, -2);
  expect(() => checkFlags({ ...OUT, encoder: bundle })).toThrow(
    errorText(/is a bundle, .*hint: give the encoder/),
  );
  expect(() => checkFlags({ ...OUT, router: "auto" })).toThrow(errorText("hint: add --from-log"));
  expect(() => checkFlags({ ...OUT, encoder: "MiniLM:int8" })).toThrow(
    errorText(/hint: fit MiniLM, and/),
  );
  checkFlags({ ...OUT, encoder: "hash" });
});

it("refuses a score for a model that is not in the data", async () => {
  const csv = "model,category,perf,cost\na,x,0.5,1\nA,y,0.5,1\n";
  const file = write("scores.csv", csv);
  await expect(checkScores(file, SCORED)).rejects.toThrow(
    errorText(
      /scores\.csv:3: field "model": "A" is not a model of the data; hint: .*the models of the data are a, b, c/,
    ),
  );
  // If only the table names models, every name is valid.
  await checkScores(file, TABLED);
  await checkScores(undefined, SCORED);
});
