import { trainingDefaults } from "../../core/calibrate/fine-tune.ts";
import { findModel } from "../../core/encoder/common/find-model.ts";
import { knownModel } from "../../core/encoder/common/known-models.ts";
import {
  type EncoderPlaces,
  type OpenEncoder,
  openEncoder,
} from "../../core/encoder/open-encoder.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { EncoderRef } from "./work/specs.ts";

/** An encoder that experiments run with. */
export interface BenchEncoder {
  readonly name: string;
  readonly ref: EncoderRef;
  readonly kind: OpenEncoder["kind"];
  readonly dimension: number;
  /** After how many epochs of fine-tuning it is looked at; none where it cannot be trained. */
  readonly epochs: readonly number[];
}

interface AbsentEncoder {
  readonly name: string;
  readonly reason: string;
}

export interface FoundEncoders {
  readonly here: readonly BenchEncoder[];
  readonly absent: readonly AbsentEncoder[];
}

/** The paper's four in its order of size. */
export const PAPER_ENCODERS: readonly string[] = ["MiniLM", "mpnet", "e5b", "OpenAItext"];
/** The one that comes with the program. */
const OWN_ENCODER = "static";

/** Opens each once, to know which weights they are. Those named by the user must be there. */
export async function findEncoders(
  asked: readonly string[] | undefined,
  places: EncoderPlaces,
): Promise<FoundEncoders> {
  const here: BenchEncoder[] = [];
  const absent: AbsentEncoder[] = [];
  for (const name of asked ?? [...PAPER_ENCODERS, OWN_ENCODER]) {
    try {
      here.push(await lookAt(name, places));
    } catch (error) {
      if (!(error instanceof InputError) || asked) throw error;
      absent.push({ name, reason: await reasonOf(name, error, places) });
    }
  }
  const unasked = asked ? PAPER_ENCODERS.filter((name) => !asked.includes(name)) : [];
  absent.push(...unasked.map((name) => ({ name, reason: "not asked for" })));
  if (here.length > 0) return { here, absent };
  throw new InputError(
    { file: "--encoders" },
    "none is here",
    "give --encoders hash, or --models DIR",
  );
}

/** For the report, which does not tell of this machine's folders. */
async function reasonOf(name: string, { problem }: InputError, { models }: EncoderPlaces) {
  if (knownModel(name) && !(await findModel(name, models))) {
    return `its weights are not here: joust models get ${name}`;
  }
  return problem;
}

async function lookAt(name: string, places: EncoderPlaces): Promise<BenchEncoder> {
  if (name === "OpenAItext" && !places.openai.apiKey) {
    throw new InputError({ file: name }, "needs OPENAI_API_KEY", "set it");
  }
  const open = await openEncoder(name, places);
  try {
    const { kind, dimension, identity } = open;
    return { name, kind, dimension, ref: { name, identity }, epochs: epochsOf(open) };
  } finally {
    await open.close();
  }
}

/** The paper's E2 and E4 for transformers; what is usual for others. */
function epochsOf(open: OpenEncoder): number[] {
  if (open.kind === "transformer") return [2, 4];
  const usual = trainingDefaults(open);
  return usual ? [usual.epochs] : [];
}
