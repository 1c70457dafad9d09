/** How a figure shows its curves: their names, their styles, and the panels in which they stand. */
import type { LineStyle } from "../report/chart.ts";
import { type Color, chunksOf, GREY, INK } from "../report/svg.ts";
import { type Curve, WITHOUT_VECTORS } from "./curve.ts";

/** Largest number of curves in a panel, so that each can be followed. */
const MOST = 6;

/** Curves that stand together in a panel. */
export interface Row {
  readonly title: string;
  /** The encoder and the variant that the title names, or empty. The names of the curves leave them out. */
  readonly named: { readonly encoder: string; readonly variant: string };
  readonly curves: readonly Curve[];
  /** Policies that do not learn, whose regret grows evenly: only the end of each is marked. */
  readonly marks: readonly Curve[];
}

/**
 * Splits the curves of a setting into panels of at most six. Curves of a weighting (or of an
 * encoder, if colors show encoders) stay together; zero-feedback and joust are in each panel.
 */
export function rowsOf(curves: readonly Curve[], by: "weighting" | "encoder"): Row[] {
  const marks = curves.filter(isMark);
  const context = curves.filter((curve) => !isMark(curve) && isContext(curve));
  const learners = curves.filter((curve) => !isMark(curve) && !isContext(curve));
  // Curves without a variant are compared with each other first.
  const own = learners.toSorted((a, b) => Number(a.variant !== "") - Number(b.variant !== ""));
  const size = Math.max(1, MOST - context.length);
  const groups = own.length <= size ? [own] : [...Map.groupBy(own, (c) => keyOf(c, by)).values()];
  const chunks = groups.flatMap((group) => (group.length > 0 ? packed(group, size) : [group]));
  return chunks.map((group) => {
    const key = groups.length > 1 ? keyOf(group[0]!, by) : "";
    const [first = "", ...others] = new Set(group.map((curve) => curve.variant));
    const variant = others.length === 0 ? first : "";
    return {
      title: [NAMES[key] ?? key, variant].filter(Boolean).join(", "),
      named: { encoder: by === "encoder" ? key : "", variant },
      curves: [...group, ...context],
      marks: marks.filter((mark) => belongs(mark, group)),
    };
  });
}

/** Splits curves into lists of at most `size`. Curves of one variant stay together if a list has room for all of them. */
function packed(curves: readonly Curve[], size: number): Curve[][] {
  const chunks: Curve[][] = [];
  for (const own of Map.groupBy(curves, ({ variant }) => variant).values()) {
    for (const block of chunksOf(own, size)) {
      const last = chunks.at(-1);
      if (last && last.length + block.length <= size) last.push(...block);
      else chunks.push(block);
    }
  }
  return chunks;
}

function isMark({ policy }: Curve): boolean {
  return WITHOUT_VECTORS.includes(policy) || policy === "best-theta";
}

function isContext({ group, policy }: Curve): boolean {
  return group === "baseline" && policy !== "fgts-cdb";
}

/** The best theta of some features stands beside the fine-tuned curves with these features, or else beside the original ones. */
function belongs(mark: Curve, group: readonly Curve[]): boolean {
  if (mark.policy !== "best-theta") return true;
  const variant = mark.variant.replace(/(, )?best theta.*/, "");
  const tuned = group.filter((curve) => curve.group === "exp");
  return (tuned.length > 0 ? tuned : group).some(
    (curve) =>
      curve.weighting === mark.weighting &&
      curve.variant === variant &&
      curve.encoder === mark.encoder &&
      (curve.group === "ctrl" ? mark.epochs === 0 : mark.epochs === curve.epochs),
  );
}

function keyOf({ encoder, weighting, group }: Curve, by: "weighting" | "encoder"): string {
  if (by === "encoder") return encoder;
  return group === "prompt" || group === "baseline" ? "prompt" : weighting;
}

const NAMES: Readonly<Record<string, string>> = {
  perf: "Perf",
  perf_cost: "Perf_cost",
  excel_perf_cost: "Excel_perf_cost",
  excel_mask: "Excel_mask",
  labels: "eq. 6",
  means: "mean",
  prompt: "prompts",
};
const GROUPS = { exp: "fine-tuned", ctrl: "original", ideal: "ideal" } as const;

/** Properties in which the curves of a figure differ, so that their names must have them. */
export interface Several {
  readonly encoders?: boolean;
  readonly epochs?: boolean;
  readonly weightings?: boolean;
}

/** `fine-tuned, Excel_perf_cost`. Encoder and epochs are named if a figure has several. */
export function readableName(curve: Curve, several: Several = {}): string {
  const { name, encoder, epochs, group, weighting, examples, policy, variant } = curve;
  const weights = NAMES[weighting] ?? weighting;
  if (policy === "best-theta") {
    const features = `${several.weightings ? `, ${weights}` : ""}${epochs > 0 ? "" : ", original"}`;
    return `${variant}${features}`;
  }
  if (group === "baseline" || encoder === "" || !name.startsWith(encoder)) return name;
  const epoch = /_E\d+/.test(name) && group === "exp" ? ` E${epochs}` : "";
  const state = `${group === "prompt" ? "" : GROUPS[group]}${several.epochs && !several.encoders ? epoch : ""}`;
  const what =
    group === "prompt"
      ? `prompts, ${examples === 1 ? "1 query" : `${examples} queries`}${variant && `, ${variant}`}`
      : [state, (several.weightings || variant === "") && weights, variant]
          .filter(Boolean)
          .join(", ");
  return several.encoders ? `${encoder}${epoch}, ${what}` : what;
}

/** The names of the curves of a panel, without what its title says. They have the weighting if two would have the same name. */
export function namesIn({ curves, marks, named }: Row, several: Several): (curve: Curve) => string {
  const all = [...curves, ...marks];
  const epochs = new Set(curves.filter(({ group }) => group === "exp").map((c) => c.epochs));
  const own = named.encoder === "" ? several : { encoders: false, epochs: epochs.size > 1 };
  const nameWith = (curve: Curve, weightings: boolean) => {
    const variants = curve.variant.split(", ").filter((one) => one !== named.variant);
    return readableName({ ...curve, variant: variants.join(", ") }, { ...own, weightings });
  };
  const isShort = new Set(all.map((curve) => nameWith(curve, false))).size === all.length;
  return (curve) => nameWith(curve, !isShort);
}

const WEIGHTINGS: Readonly<Record<string, Color>> = {
  perf: 2,
  perf_cost: 5,
  excel_perf_cost: 0,
  excel_mask: 3,
  labels: 0,
  means: 0,
};
const DASHES = {
  exp: "none",
  ctrl: "6 3",
  ideal: "2 2.5",
  prompt: "9 2 2 2",
  baseline: "9 2 2 2 2 2",
};
const POLICIES: Readonly<Record<string, LineStyle>> = {
  "zero-feedback": { color: INK, dash: "1.5 3", width: 1.8, band: false },
  joust: { color: 1, dash: "none", width: 2.4, band: true },
};

/**
 * The style of a curve among those of its panel: the color is that of its weighting, or one of
 * its own if another curve of the panel has the same color and dash.
 */
export function stylesOf(curves: readonly Curve[]): (curve: Curve) => LineStyle {
  const styles = new Map<Curve, LineStyle>();
  const taken = new Set<string>();
  for (const curve of curves) {
    const { policy, group, weighting, variant } = curve;
    const usual = POLICIES[policy];
    const wanted = usual?.color ?? WEIGHTINGS[group === "prompt" ? "" : weighting] ?? 4;
    const dash = usual?.dash ?? DASHES[group];
    const free = [wanted, ...Array.from({ length: GREY }, (_, i) => i).filter((i) => i !== 1)];
    const color = free.find((one) => !taken.has(`${one} ${dash}`)) ?? GREY;
    taken.add(`${color} ${dash}`);
    const band = usual ? usual.band && curve.name === policy : group === "exp" && variant === "";
    styles.set(curve, { color, dash, width: usual?.width ?? 1.7, band });
  }
  return (curve) => styles.get(curve)!;
}
