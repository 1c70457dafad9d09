import { mkdtempSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openEncoder } from "../encoder/open-encoder.ts";
import { temporaryModels, tinyModel } from "../encoder/transformer/model/tiny-model.fixture.ts";
import { errorText } from "../errors/error-text.fixture.ts";
import { CONTENTS } from "./bundle.fixture.ts";
import type { Bundle } from "./bundle.ts";
import { openEncoderOrBundle } from "./bundle-encoder.ts";
import { writeBundle } from "./write-bundle.ts";

const models = temporaryModels();

/** A bundle made with the hashed bag of words, or so it says. */
function bundleOf(identity: string): Promise<string> {
  return writeBundleOf({ ...CONTENTS.encoder, dimension: 384, identity });
}

async function writeBundleOf(
  encoder: Bundle["encoder"],
  saveEncoder?: (to: string) => Promise<void>,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "joust-bundle-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const xi = new Float64Array(encoder.dimension);
  const contents = {
    ...CONTENTS,
    encoder,
    categories: CONTENTS.categories.map(({ name }) => ({ name, xi })),
    models: CONTENTS.models.map((model) => ({ ...model, embedding: xi })),
  };
  await writeBundle(join(folder, "bundle"), contents, { saveEncoder });
  return join(folder, "bundle");
}

it("is the one that the bundle was made with, and the bundle comes along", async () => {
  const hash = await openEncoder("hash");
  const { encoder, bundle } = await openEncoderOrBundle(await bundleOf(hash.identity), undefined);
  expect(bundle!.name).toBe(CONTENTS.name);
  expect(await encoder.encode(["Why?"])).toEqual(await hash.encode(["Why?"]));
  expect(await openEncoderOrBundle("hash", undefined)).not.toHaveProperty("bundle");
});

it("is refused where another of that name is here, which gives other vectors", async () => {
  const opening = openEncoderOrBundle(await bundleOf("0".repeat(64)), undefined);
  await expect(opening).rejects.toThrow(
    errorText(
      /bundle\.json: field "encoder\.identity": is not that of the encoder hash here.*hint: fit again/,
    ),
  );
});

it("has the weights of the bundle in 8 bits where that is asked for", async () => {
  const tiny = models(tinyModel("bert"), "tiny");
  const float = await openEncoder(tiny);
  const { kind, name, dimension, identity } = float;
  const folder = await writeBundleOf({ kind, name, dimension, identity, own: true }, (to) =>
    cp(tiny, to, { recursive: true }),
  );
  const { encoder, bundle } = await openEncoderOrBundle(`${folder}:int8`, undefined);
  expect(bundle!.encoder.identity).toBe(identity);
  expect(encoder).toMatchObject({ name: "tiny:int8", float32: identity });
  expect(await encoder.encode(["the cat"])).not.toEqual(await float.encode(["the cat"]));
  await Promise.all([float.close(), encoder.close()]);
});
