/** Records of administration: configurations, the audit log, sessions of the page, nodes. */

/** A revision of the configuration that is managed in the store. */
export interface StoredConfiguration {
  /** 1 for the first one. */
  readonly revision: number;
  /** Time in milliseconds since 1970. */
  readonly at: number;
  /** The configuration as JSON, without secrets. */
  readonly document: string;
  /** Its secrets, to be read with `unseal`. */
  readonly sealed: Uint8Array;
}

/** A change that an operator made. It contains no secret and no name of a voter. */
export interface AuditRecord {
  /** Ids sort in the order of time. */
  readonly id: string;
  readonly at: number;
  /** Name of the API key that was used, or "command line"; undefined on a gateway without keys. */
  readonly actor?: string | undefined;
  /** Kind of change, such as "configuration.change" or "key.revoke". */
  readonly action: string;
  /** Object that was changed, such as a field of the configuration or the name of a key. */
  readonly target: string;
  /** Revision of the configuration that the change made. */
  readonly revision?: number | undefined;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface AuditQuery {
  /** Id of the last record of the previous page. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A process that serves the store. */
export interface StoredNode {
  readonly id: string;
  readonly version: string;
  /** Address that it listens on. */
  readonly url: string;
  readonly startedAt: number;
  /** Revision of the configuration that it serves; 0 without one. */
  readonly revision: number;
  /** Time of its last sign of life. */
  readonly seen: number;
}

/** The right to save snapshots of a router, and the node that holds it. */
export interface HeldLease {
  readonly router: string;
  readonly holder: string;
  readonly until: number;
}

/** Age at which a node that gives no sign of life is forgotten. */
export const NODE_LIFETIME_MS = 86_400_000;
