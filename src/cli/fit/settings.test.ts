import { describe, expect, it } from "vitest";
import type { OpenEncoder } from "../../core/encoder/open-encoder.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { SCORED, TABLED } from "../../lab/simulate/world.fixture.ts";
import { checkFlags, checkScores, type FitFlags, settingsOf } from "./settings.ts";

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
  it("are the paper's for a transformer", () => {
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

  it("have no epochs where nothing can be trained", () => {
    for (const kind of ["hash", "openai"] as const) {
      expect(settingsOf(OUT, TABLED, encoder(kind)).epochs).toBe(0);
    }
  });

  it("weigh comparisons by labels, and heed what is given", () => {
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
    ["steps of no training", { learningRate: 1 }, TABLED, "--learning-rate: changes nothing where"],
    ["training what cannot be", { epochs: 1 }, TABLED, "--encoder: hash cannot be fine-tuned"],
    [
      "an option without effect",
      { tau: 2, weighting: "perf" },
      TABLED,
      "--tau: changes nothing where the weighting is perf; hint: leave it out, or give --weighting excel",
    ],
    [
      "a price on costs unknown",
      { lambda: 1, weighting: "perf_cost" },
      COMPARED,
      "--lambda: needs",
    ],
    ["more that excel than there are", { tau: 4 }, TABLED, "--tau: is 4, and there are 3 models"],
  ])("refuse %s", (_, flags, dataset, message) => {
    const read = () => settingsOf({ ...OUT, ...flags }, dataset, encoder("hash"));
    expect(read).toThrow(InputError);
    expect(read).toThrow(errorText(message));
  });
});

it("refuses --resume with --overwrite, and a bundle or 8 bits to start from", () => {
  expect(() => checkFlags({ ...OUT, resume: true, overwrite: true })).toThrow(
    errorText("give one of them"),
  );
  write("bundle/bundle.json", "{}");
  const bundle = write("bundle/x", "").slice(0, -2);
  expect(() => checkFlags({ ...OUT, encoder: bundle })).toThrow(
    errorText(/is a bundle, .*hint: name the/),
  );
  expect(() => checkFlags({ ...OUT, router: "auto" })).toThrow(errorText("hint: add --from-log"));
  expect(() => checkFlags({ ...OUT, encoder: "MiniLM:int8" })).toThrow(
    errorText(/hint: fit MiniLM, and/),
  );
  checkFlags({ ...OUT, encoder: "hash" });
});

it("refuses a score for a model that the data has not", async () => {
  const csv = "model,category,perf,cost\na,x,0.5,1\nA,y,0.5,1\n";
  const file = write("scores.csv", csv);
  await expect(checkScores(file, SCORED)).rejects.toThrow(
    errorText(
      /scores\.csv:3: field "model": "A" is no model of the data; hint: .*the data has a, b, c/,
    ),
  );
  // Where only the table names models, it names all there are.
  await checkScores(file, TABLED);
  await checkScores(undefined, SCORED);
});
