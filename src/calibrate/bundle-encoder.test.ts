import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openEncoder } from "../encoder/open-encoder.ts";
import { CONTENTS } from "./bundle.fixture.ts";
import { openEncoderOrBundle } from "./bundle-encoder.ts";
import { writeBundle } from "./write-bundle.ts";

/** A bundle made with the hashed bag of words, or so it says. */
async function bundleOf(identity: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "joust-bundle-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const xi = new Float64Array(384);
  const contents = {
    ...CONTENTS,
    encoder: { ...CONTENTS.encoder, dimension: 384, identity },
    categories: CONTENTS.categories.map(({ name }) => ({ name, xi })),
    models: CONTENTS.models.map((model) => ({ ...model, embedding: xi })),
  };
  await writeBundle(join(folder, "bundle"), contents, {});
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
    /bundle\.json: field "encoder\.identity": is not that of the encoder hash here.*help: fit again/,
  );
});
