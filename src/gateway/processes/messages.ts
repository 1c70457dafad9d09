import type { Configuration } from "../../api/configuration.ts";
import type { Config } from "../config/config.ts";
import type { Membership } from "../peers/linked-peers.ts";

/** Everything that a process needs to start its gateway. */
export interface StartMessage {
  readonly membership: Membership;
  readonly config: Config;
  /** Path of the configuration file, if there is one. */
  readonly file: string | undefined;
  /** Folder of the data. */
  readonly data: string;
  /** Lowest level of the lines that are logged. */
  readonly level: string;
  /** Whether the supervising process holds the store. */
  readonly hasStore: boolean;
  /** Address of the server; "" while nobody listens yet. */
  readonly url: string;
}

/** The models and routers that a gateway serves, for the text at the start. */
export interface ServingSummary {
  readonly from: "file" | "environment" | "sandbox";
  readonly models: readonly string[];
  readonly routers: readonly string[];
  /** Whether there is no API key, so that only this machine may send requests. */
  readonly isOpen: boolean;
  /** The newest configuration in the store, if it cannot be served. */
  readonly invalid?: Configuration["invalid"];
}

/** The message that carries a connection of a client with this address. */
export interface Passed {
  readonly address: string;
}

/** Descriptor of the link in a process that was started for a gateway. */
export const LINK_DESCRIPTOR = 4;
