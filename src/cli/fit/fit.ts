import type { HeldOut } from "../../core/calibrate/calibrate.ts";
import { fitBundle } from "../../core/calibrate/fit.ts";
import { checkOffline } from "../../core/calibrate/offline-check.ts";
import type { StepProgress } from "../../core/calibrate/pairs.ts";
import { WorkFolder } from "../../core/calibrate/work-folder.ts";
import { checkTarget } from "../../core/calibrate/write-bundle.ts";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { DEFAULT_ENCODER, openEncoder } from "../../core/encoder/open-encoder.ts";
import { readVersion } from "../../core/input/project.ts";
import { Random } from "../../core/random/random.ts";
import { takeOffline } from "../../lab/data/offline.ts";
import { interruptibly, type ShowProgress } from "../shared/progress.ts";
import { drawBar, encodeLine, timeLeft } from "../shared/status-line.ts";
import { openFitData } from "./data.ts";
import { FIT_DEFAULTS, type FitFlags } from "./flags.ts";
import { checkFlags, checkScores, settingsOf } from "./settings.ts";
import { fewerNote, fitRecord, fitSummary } from "./summary.ts";

/** Largest number of held-out queries for the accuracy, whose error is then about 0.03. More queries would take minutes. */
const MOST_HELD_OUT = 1000;

/** Reads the data, fits a bundle and prints a summary. Returns the exit code. */
export async function runFit(data: string, flags: FitFlags): Promise<number> {
  const { out, resume, overwrite, offline: count = FIT_DEFAULTS.offline } = flags;
  checkFlags(flags);
  checkTarget(out, overwrite);
  const source = await openFitData(data, flags);
  const { dataset, title, file = title, sources } = source;
  await checkScores(flags.scores, dataset);
  const random = Random.seeded(flags.seed ?? FIT_DEFAULTS.seed);
  const { offline, heldOut } = takeOffline(dataset, count, random.split("offline"));
  const places = encoderPlaces(flags.models);
  const encoder = await openEncoder(flags.encoder ?? DEFAULT_ENCODER, places);
  let note: string | undefined;
  const fitted = async (show: ShowProgress, signal: AbortSignal): Promise<string> => {
    const settings = settingsOf(flags, dataset, encoder);
    if (settings.epochs > 0) checkOffline(file, offline, dataset.categories.length === 0);
    const contents = await fitBundle(
      {
        offline,
        heldOut: sampleOf(heldOut, random.split("held out")),
        encoder,
        places,
        settings,
        version: readVersion(),
        sources,
      },
      {
        ...{ out, resume, overwrite, signal },
        onEncode: (progress) => show(encodeLine(progress)),
        onStep: (progress) => show(stepLine(progress)),
      },
    );
    note = fewerNote(flags, contents);
    return flags.json
      ? `${JSON.stringify(fitRecord(out, contents))}\n`
      : fitSummary(source, flags, contents);
  };
  try {
    return await interruptibly(fitted, () => stoppedText(out));
  } finally {
    if (note !== undefined) process.stderr.write(`joust: ${note}\n`);
    await encoder.close();
  }
}

function sampleOf({ texts, categories }: HeldOut, random: Random): HeldOut {
  const chosen = random.shuffle([...texts.keys()]).slice(0, MOST_HELD_OUT);
  return {
    texts: chosen.map((i) => texts[i]!),
    categories: chosen.map((i) => categories[i]!),
  };
}

function stepLine({ step, steps, loss, millisecondsLeft }: StepProgress): string {
  return `${drawBar(step, steps)} step ${step}/${steps}, loss ${loss.toFixed(4)}${timeLeft(millisecondsLeft)}`;
}

async function stoppedText(out: string): Promise<string> {
  const work = WorkFolder.of(out);
  return (await work.holdsWork())
    ? `joust: stopped; the training so far is in ${work.path}\nhint: run the same command with --resume to continue\n`
    : "joust: stopped; nothing was saved\n";
}
