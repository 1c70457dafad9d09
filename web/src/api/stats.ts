export type {
  Band,
  Learning,
  MapPoint,
  ModelCounts,
  PromptMap,
  SeriesPoint,
  Standing,
  Stats,
  Tradeoff,
  TradeoffPoint,
  Truth,
  Voters,
} from "../../../src/client.ts";
