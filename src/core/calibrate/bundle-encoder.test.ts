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

/** A bundle that claims to be made with the hash encoder. */
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

it("opens the encoder that the bundle was made with, and returns the bundle", async () => {
  const hash = await openEncoder("hash");
  const { encoder, bundle } = await openEncoderOrBundle(await bundleOf(hash.identity), undefined);
  expect(bundle!.name).toBe(CONTENTS.name);
  expect(await encoder.encode(["Why?"])).toEqual(await hash.encode(["Why?"]));
  expect(await openEncoderOrBundle("hash", undefined)).not.toHaveProperty("bundle");
});

it("rejects an encoder of the same name with other embeddings", async () => {
  const opening = openEncoderOrBundle(await bundleOf("0".repeat(64)), undefined);
  await expect(opening).rejects.toThrow(
    errorText(
      /bundle\.json: field "encoder\.identity": differs from the encoder hash on this machine.*hint: fit again/,
    ),
  );
});

it("opens the weights of the bundle in 8 bits on request", async () => {
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
