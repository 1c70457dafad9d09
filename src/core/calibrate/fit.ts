import { rename } from "node:fs/promises";
import { type EncodeProgress, encodeAll } from "../encoder/encode-all.ts";
import { type EncoderPlaces, type OpenEncoder, openEncoder } from "../encoder/open-encoder.ts";
import { writeError } from "../input/system-error.ts";
import { Random } from "../random/random.ts";
import { type BundleSettings, textChecksum } from "./bundle.ts";
import { calibrate, type HeldOut, type OfflineQueries, type Tuned } from "./calibrate.ts";
import { fineTune } from "./fine-tune.ts";
import type { Pair, StepProgress } from "./pairs.ts";
import { WorkFolder } from "./work-folder.ts";
import { type BundleContents, checkTarget, writeBundle } from "./write-bundle.ts";

export interface FitRequest {
  readonly offline: OfflineQueries;
  readonly heldOut: HeldOut;
  /** The encoder to start from. It is closed before training, which needs the memory. */
  readonly encoder: OpenEncoder;
  readonly places?: EncoderPlaces | undefined;
  readonly settings: BundleSettings;
  /** Version of joust, stored in the bundle. */
  readonly version: string;
  readonly sources: BundleContents["sources"];
}

export interface FitOptions {
  /** Folder of the bundle. */
  readonly out: string;
  /** Resume a fit that was stopped. */
  readonly resume?: boolean | undefined;
  /** Replace an existing bundle, and discard a fit that was stopped. */
  readonly overwrite?: boolean | undefined;
  /** Threads of training. Default: the number of cores. Other numbers change the last bits of the result. */
  readonly threads?: number | undefined;
  readonly onEncode?: ((progress: EncodeProgress) => void) | undefined;
  readonly onStep?: ((progress: StepProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Calibrates and writes a complete bundle or none. If it is stopped, the training can be resumed later. */
export async function fitBundle(request: FitRequest, options: FitOptions): Promise<BundleContents> {
  const { offline, heldOut, encoder, settings, version, sources } = request;
  const { out, overwrite, onEncode, signal } = options;
  checkTarget(out, overwrite);
  const work = WorkFolder.of(out);
  let trained: string | undefined;
  const train = async (pairs: readonly Pair[]): Promise<Tuned> => {
    await work.open(planOf(request), options);
    await encoder.close();
    const { path, losses } = await fineTune(encoder, offline.texts, pairs, {
      ...settings,
      random: Random.seeded(settings.seed).split("epochs"),
      folder: work.path,
      threads: options.threads,
      onStep: options.onStep,
      signal,
    });
    trained = path;
    return { encoder: await openEncoder(path, request.places), losses };
  };
  try {
    const calibrated = await calibrate(offline, heldOut, encoder, settings, {
      fineTune: train,
      encode: (encoder, texts) => encodeAll(encoder, texts, { onProgress: onEncode, signal }),
    });
    const contents: BundleContents = { schema: 1, version, sources, ...calibrated };
    const from = trained;
    const saveEncoder = from === undefined ? undefined : (to: string) => rename(from, to);
    await writeBundle(out, contents, { overwrite, saveEncoder });
    await work.remove();
    return contents;
  } catch (error) {
    if (!(await work.holdsWork())) await work.remove().catch(() => {});
    throw writeError(out, error);
  }
}

/** Returns everything that determines the trained weights. */
function planOf({ offline, encoder, settings }: FitRequest) {
  const { epochs, batch, learningRate, seed } = settings;
  const texts = textChecksum(JSON.stringify(offline.texts));
  const categories = textChecksum(JSON.stringify(offline.categories));
  return { encoder: encoder.identity, epochs, batch, learningRate, seed, texts, categories };
}
