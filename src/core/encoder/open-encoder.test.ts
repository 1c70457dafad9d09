import { describe, expect, it } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { InputError } from "../input/input-error.ts";
import { dot } from "../linalg/linalg.ts";
import { type EncoderPlaces, openEncoder } from "./open-encoder.ts";
import { modelIdentity } from "./transformer/model/model-folder.ts";
import { temporaryModels, tinyModel } from "./transformer/model/tiny-model.fixture.ts";

const models = temporaryModels();
const tiny = models(tinyModel("bert"), "place/tiny");
const NONE: EncoderPlaces = {
  models: { search: [], download: "", hubCache: "" },
  openai: { apiKey: undefined },
  embeddingCache: "",
};

describe("openEncoder", () => {
  it("opens the encoders of the package", async () => {
    const hash = await openEncoder("hash");
    expect(hash).toMatchObject({ kind: "hash", name: "hash", dimension: 384, named: true });
    expect(hash.identity).toMatch(/^[0-9a-f]{64}$/);
    const own = await openEncoder("static");
    expect(own).toMatchObject({ kind: "static", name: "static", dimension: 256, named: true });
    const copy = await openEncoder(own.path!);
    expect(copy).toMatchObject({ kind: "static", named: false, identity: own.identity });
    expect(await copy.encode(["Why?"])).toEqual(await own.encode(["Why?"]));
    await Promise.all([hash, own, copy].map((encoder) => encoder.close()));
  });

  it("opens a folder by its path, or by its name in the search places", async () => {
    const byPath = await openEncoder(tiny);
    expect(byPath).toMatchObject({ kind: "transformer", name: "tiny", named: false, path: tiny });
    const places = { ...NONE, models: { ...NONE.models, search: [tiny.slice(0, -5)] } };
    const byName = await openEncoder("tiny", places);
    expect(byName).toMatchObject({ named: true, identity: byPath.identity, dimension: 8 });
    expect(await byName.encode(["the cat"])).toEqual(await byPath.encode(["the cat"]));
    await Promise.all([byPath.close(), byName.close()]);
  });

  it("opens the 8-bit version of a transformer with :int8, under another identity", async () => {
    const float = await openEncoder(tiny);
    const int8 = await openEncoder(`${tiny}:int8`);
    expect(int8).toMatchObject({ name: "tiny:int8", dimension: 8, float32: float.identity });
    // The log distinguishes encoders by this many characters.
    expect(int8.identity.slice(0, 16)).not.toBe(float.identity.slice(0, 16));
    const [a] = await float.encode(["the cat"]);
    const [b] = await int8.encode(["the cat"]);
    expect(b).not.toEqual(a);
    expect(dot(a!, b!)).toBeGreaterThan(0.98);
    await Promise.all([float.close(), int8.close()]);
  });

  it.each([
    [
      "static:int8",
      /^static:int8: has no 8-bit version, .*; hint: write static, or use MiniLM, e5b/,
    ],
    ["MiniLM:int8", /^MiniLM: is in none of .*; hint: run joust models get MiniLM/],
    [
      "MinLM",
      /^--encoder: "MinLM" is not an encoder; hint: did you mean "MiniLM"\? use static, hash/,
    ],
    ["MiniLM", /^MiniLM: is in none of .*; hint: run joust models get MiniLM/],
    ["OpenAItext", /^OPENAI_API_KEY: is not set; hint:/],
  ])("rejects %s if it cannot be opened", async (name, message) => {
    const error = await openEncoder(name, NONE).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toEqual(errorText(message));
  });
});

it("a model's identity depends on weights, prefix and pooling, and not on its place", async () => {
  const identity = await modelIdentity(tiny);
  const { "README.md": _, ...files } = { "README.md": "", ...tinyModel("bert") };
  expect(await modelIdentity(models({ ...files, "README.md": "# Other" }, "elsewhere"))).toBe(
    identity,
  );
  const others = [
    tinyModel("bert", 2),
    { ...files, "1_Pooling/config.json": { pooling_mode: "cls", word_embedding_dimension: 8 } },
    { ...files, "sentence_bert_config.json": { max_seq_length: 9 } },
    {
      ...files,
      "config_sentence_transformers.json": { prompts: { q: "q: " }, default_prompt_name: "q" },
    },
  ];
  const identities = await Promise.all(others.map((other) => modelIdentity(models(other))));
  expect(new Set([identity, ...identities]).size).toBe(5);
});
