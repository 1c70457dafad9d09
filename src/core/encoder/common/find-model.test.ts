import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../../errors/error-text.fixture.ts";
import { findModel, locateModel, modelPlaces } from "./find-model.ts";
import { KNOWN_MODELS, knownModel } from "./known-models.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "joust-find-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
});

function model(...path: string[]): string {
  const folder = join(root, ...path);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), "{}");
  return folder;
}

describe("places", () => {
  it("are --models, JOUST_MODELS and the user's cache, in this order; downloads go to the first", () => {
    const env = { JOUST_MODELS: ["/a", "/b"].join(delimiter), XDG_CACHE_HOME: "/cache" };
    const own = join("/cache", "joust", "models");
    expect(modelPlaces("/mine", env, "/home/me")).toMatchObject({
      search: ["/mine", "/a", "/b", own],
      download: "/mine",
    });
    expect(modelPlaces(undefined, env, "/home/me").download).toBe("/a");
    expect(modelPlaces(undefined, { XDG_CACHE_HOME: "/cache" }, "/home/me").download).toBe(own);
    expect(modelPlaces(undefined, { JOUST_MODELS: "" }, "/home/me")).toEqual({
      search: [join("/home/me", ".cache", "joust", "models")],
      download: join("/home/me", ".cache", "joust", "models"),
      hubCache: join("/home/me", ".cache", "huggingface", "hub"),
    });
  });
});

describe("find", () => {
  const places = () =>
    modelPlaces(join(root, "first"), { JOUST_MODELS: join(root, "second") }, root);

  it("returns the first place that has the model, by any of its names", async () => {
    expect(await findModel("MiniLM", places())).toBeUndefined();
    const second = model("second", "all-MiniLM-L6-v2");
    expect(await findModel("MiniLM", places())).toBe(second);
    expect(await findModel("minilm", places())).toBe(second);
    expect(await findModel("sentence-transformers/all-MiniLM-L6-v2", places())).toBe(second);
    const first = model("first", "MiniLM");
    expect(await findModel("all-MiniLM-L6-v2", places())).toBe(first);
  });

  it("searches the cache of Hugging Face last", async () => {
    const commit = model(
      ".cache",
      "huggingface",
      "hub",
      "models--intfloat--e5-base",
      "snapshots",
      "abc",
    );
    const refs = join(root, ".cache", "huggingface", "hub", "models--intfloat--e5-base", "refs");
    mkdirSync(refs);
    writeFileSync(join(refs, "main"), "abc\n");
    expect(await findModel("e5b", places())).toBe(commit);
    const own = model("first", "e5-base");
    expect(await findModel("e5b", places())).toBe(own);
  });

  it("finds the user's own model by its folder's name, and ignores other folders", async () => {
    mkdirSync(join(root, "first", "notes"), { recursive: true });
    expect(await findModel("notes", places())).toBeUndefined();
    const mine = model("second", "notes");
    expect(await findModel("notes", places())).toBe(mine);
  });
});

describe("locate", () => {
  const places = () => modelPlaces(join(root, "models"), {}, root);

  it("prefers a path to a name", async () => {
    const folder = model("somewhere", "MiniLM");
    expect(await locateModel(folder, places())).toBe(folder);
  });

  it("says how to get a known model that is missing", async () => {
    await expect(locateModel("e5b", places())).rejects.toThrow(
      errorText(
        /^e5b: is in none of .*models.*; hint: run joust models get e5b, set JOUST_MODELS to the folder/,
      ),
    );
  });

  it("suggests a similar name", async () => {
    await expect(locateModel("MiniML", places())).rejects.toThrow(
      errorText(
        /is neither the folder of a model nor .*; hint: did you mean "MiniLM"\? give a folder/,
      ),
    );
  });
});

it("known models are found by each of their names, and no two share a name", () => {
  for (const known of KNOWN_MODELS) {
    const { name, repository } = known;
    for (const one of [name, repository, repository.split("/")[1]!, name.toUpperCase()]) {
      expect(knownModel(one)).toBe(known);
    }
  }
  expect(knownModel("bert-base-uncased")).toBeUndefined();
});
