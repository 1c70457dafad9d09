/** Settings of a router with all defaults, as the gateway shows them. */
export interface RouterSettings {
  readonly models?: readonly string[];
  readonly mode: "apply" | "observe" | "bypass";
  readonly fallback?: string;
  readonly cost_quality_tradeoff: number;
  readonly budget?: number;
  readonly duels: {
    readonly mode: boolean | "auto";
    readonly share: number;
    readonly spend: number;
  };
  readonly judge?: { readonly model: string; readonly share: number; readonly weight: number };
  readonly guard: boolean;
  readonly explore: number;
  readonly weigh_voters: boolean;
}

/** Settings of a router that does not exist yet. */
const NEW: RouterSettings = {
  mode: "apply",
  cost_quality_tradeoff: 3,
  duels: { mode: false, share: 0.2, spend: 0.3 },
  guard: true,
  explore: 0.02,
  weigh_voters: false,
};

/** The fields of the form. Numbers are texts, because a person may be typing them. */
export interface RouterFields {
  readonly pool: readonly string[];
  readonly isWholePool: boolean;
  readonly mode: RouterSettings["mode"];
  readonly fallback: string;
  readonly tradeoff: string;
  readonly budget: string;
  readonly duels: "off" | "auto" | "on";
  readonly share: string;
  readonly spend: string;
  readonly judge: string;
  readonly judgeShare: string;
  readonly judgeWeight: string;
  readonly guard: boolean;
}

export function fieldsOf(settings: RouterSettings = NEW, models: readonly string[]): RouterFields {
  const { duels, judge } = settings;
  return {
    pool: settings.models ?? models,
    isWholePool: settings.models === undefined,
    mode: settings.mode,
    fallback: settings.fallback ?? "",
    tradeoff: String(settings.cost_quality_tradeoff),
    budget: settings.budget === undefined ? "" : String(settings.budget),
    duels: duels.mode === false ? "off" : duels.mode === "auto" ? "auto" : "on",
    share: percentOf(duels.share),
    spend: percentOf(duels.spend),
    judge: judge?.model ?? "",
    judgeShare: percentOf(judge?.share ?? 0.05),
    judgeWeight: String(judge?.weight ?? 1),
    guard: settings.guard,
  };
}

function percentOf(share: number): string {
  return String(Math.round(1e4 * share) / 100);
}

/** The entry of the configuration for the fields. Members that the form does not show stay as they were. */
export function entryOf(fields: RouterFields, before: object = {}): Record<string, unknown> {
  const {
    models: _,
    fallback: __,
    budget: ___,
    judge: oldJudge,
    duels,
    ...rest
  } = before as {
    models?: unknown;
    fallback?: unknown;
    budget?: unknown;
    judge?: object;
    duels?: object;
  };
  const mode = { off: false, auto: "auto", on: true }[fields.duels];
  return {
    ...rest,
    ...(!fields.isWholePool && { models: fields.pool }),
    mode: fields.mode,
    ...(fields.fallback !== "" && { fallback: fields.fallback }),
    cost_quality_tradeoff: Number(fields.tradeoff),
    ...(fields.budget !== "" && { budget: Number(fields.budget) }),
    duels: { ...duels, mode, share: shareOf(fields.share), spend: shareOf(fields.spend) },
    ...(fields.judge !== "" && {
      judge: {
        ...oldJudge,
        model: fields.judge,
        share: shareOf(fields.judgeShare),
        weight: Number(fields.judgeWeight),
      },
    }),
    guard: fields.guard,
  };
}

function shareOf(percent: string): number {
  return Number(percent) / 100;
}
