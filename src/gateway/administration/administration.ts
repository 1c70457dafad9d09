import type { Logger } from "pino";
import type { Configuration, ConfigurationChange } from "../../api/configuration.ts";
import { formatErrorLine } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Store } from "../../store/store.ts";
import type { Caller } from "../access/access.ts";
import type { Config, Environment } from "../config/config.ts";
import { nextSteps } from "../config/next-steps.ts";
import { HttpError } from "../wire/http-error.ts";
import type { Audit } from "./audit.ts";
import {
  applyChanges,
  type Content,
  changedEntries,
  configOf,
  contentOf,
  type Document,
  differences,
  FIRST_DOCUMENT,
} from "./document.ts";
import {
  FIRST_REVISION,
  newestValid,
  openRevision,
  type Revision,
  sealRevision,
  type ValidRevision,
} from "./revisions.ts";
import { checkOrigins, type Described, revertedDocument } from "./secret-origins.ts";
import { type Json, type JsonObject, secretsOf, withoutSecrets } from "./secrets.ts";
import { modelsBefore, type ServedModels, sourceOf } from "./served-models.ts";
import { staleError } from "./stale.ts";
import { testedEntry } from "./tested-entry.ts";
import type { VaultPlaces } from "./vault-key.ts";

/** The place where the configuration is changed. */
export type ManagedBy =
  | { readonly by: "store" }
  | { readonly by: "file"; readonly file: string }
  | { readonly by: "program" };

export interface AdministrationParts {
  readonly store: Store;
  readonly audit: Audit;
  readonly managed: ManagedBy;
  /** Configuration of the start: all of it, or server, store and keys if the rest is managed in the store. */
  readonly base: Config;
  readonly vault: VaultPlaces;
  readonly env: Environment;
  readonly logger: Logger;
}

/** The reason why a file that was changed is not served. */
export type FileProblem = Pick<NonNullable<Configuration["invalid"]>, "problem" | "hint">;

/** The part of the gateway that serves configurations. */
export interface Served extends ServedModels {
  /** Throws if a configuration cannot be served. */
  check(config: Config): Promise<void>;
  /** Serves a configuration. */
  apply(config: Config): Promise<void>;
}

/**
 * The configuration of an installation that is managed in the store: loads it, changes it, and serves the changes
 * that other nodes make. For an installation that is managed by a file, it only shows the configuration.
 */
export class Administration {
  readonly #parts: AdministrationParts;
  /** The newest revision. If it cannot be served, its content is that of `#servedRevision`. */
  #current: Revision;
  #servedRevision: number;
  #invalid: InputError | undefined;
  #fileProblem: FileProblem | undefined;
  #config: Config;
  #served: Served | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #stop = () => {};
  /** The last problem of a refresh, which is logged once although refreshes are repeated. */
  #logged: string | undefined;

  private constructor(parts: AdministrationParts, found: ValidRevision, newest: number) {
    this.#parts = parts;
    const { document, secrets, revision, config, error } = found;
    this.#current = { document, secrets, revision: newest };
    this.#servedRevision = revision;
    this.#invalid = error;
    this.#config = config;
  }

  /** Reads the newest configuration that is valid. Throws if its secrets cannot be read. */
  static async open(parts: AdministrationParts): Promise<Administration> {
    const { managed, base, store, vault } = parts;
    const first = { ...FIRST_REVISION, config: base };
    if (managed.by !== "store") return new Administration(parts, first, 0);
    const newest = await store.revision();
    return new Administration(parts, await newestValid(store, base, vault, newest), newest);
  }

  /**
   * Builds models and routers from the newest configuration that can be served. If that is not the newest revision,
   * logs why the newest one cannot be served; it stays in the store.
   */
  async serveFirst<T>(build: (config: Config) => Promise<T>): Promise<T> {
    const { store, base, vault, logger } = this.#parts;
    for (;;) {
      try {
        const built = await build(this.#config);
        const { invalid } = this;
        if (invalid) {
          logger.error(
            invalid,
            "the newest configuration in the store cannot be served: an earlier one is used, and requests get an error if there is none",
          );
        }
        return built;
      } catch (error) {
        if (!(error instanceof InputError) || this.#servedRevision === 0) throw error;
        this.#invalid ??= error;
        const found = await newestValid(store, base, vault, this.#servedRevision - 1);
        this.#current = { ...found, revision: this.revision };
        this.#servedRevision = found.revision;
        this.#config = found.config;
      }
    }
  }

  /** The newest revision, if it cannot be served. */
  get invalid(): Configuration["invalid"] {
    const error = this.#invalid;
    if (!error) return undefined;
    const { field, file, problem, hint } = error;
    return {
      revision: this.revision,
      served: this.#servedRevision,
      problem: `${field ?? file}: ${problem}`,
      hint,
    };
  }

  /** The revision whose content is served. */
  get servedRevision(): number {
    return this.#servedRevision;
  }

  get config(): Config {
    return this.#config;
  }

  get revision(): number {
    return this.#current.revision;
  }

  get isEditable(): boolean {
    return this.#parts.managed.by === "store";
  }

  /** Connects the gateway, and follows the changes of other nodes. Changes may be announced late or never, so it also polls. */
  follow(served: Served): void {
    this.#served = served;
    if (!this.isEditable) return;
    const { store } = this.#parts;
    const unwatch = store.onChange(({ what, position }) => {
      if (what === "configuration" && position > this.revision) this.#refresh();
    });
    const timer = setInterval(() => this.#refresh(), POLL_MS).unref();
    this.#stop = () => {
      unwatch();
      clearInterval(timer);
    };
  }

  async stop(): Promise<void> {
    this.#stop();
    await this.#queue;
  }

  /** Remembers a configuration that was read from the file again. */
  reloaded(config: Config): void {
    this.#config = config;
    this.#fileProblem = undefined;
  }

  /** Remembers why the file, as it is now, is not served. */
  reloadFailed(problem: FileProblem): void {
    this.#fileProblem = problem;
  }

  /** The configuration without its secrets. */
  shown(): Configuration {
    const { managed, vault } = this.#parts;
    const { document, revision } = this.#current;
    const { providers, models, routers, metrics } = this.#config;
    const effective = withoutSecrets({ providers, models, routers, metrics } as unknown as Json);
    return {
      object: "configuration",
      managed_by: managed.by,
      ...(managed.by === "file" && { file: managed.file }),
      ...(this.#invalid && { invalid: this.invalid }),
      ...(this.#fileProblem && { invalid: { revision: 0, served: 0, ...this.#fileProblem } }),
      revision,
      next_steps: nextSteps(this.#config),
      can_store_secrets: vault.key !== undefined || !vault.isShared,
      from: this.#served ? sourceOf(this.#served, this.#config, managed.by) : "sandbox",
      document: (this.isEditable ? document : effective) as Configuration["document"],
      effective: effective as Configuration["effective"],
    };
  }

  /** The document that is served, without secrets. Throws 409 if a file holds the configuration. */
  exported(): { readonly document: Document; readonly revision: number } {
    this.#checkEditable();
    return { document: this.#current.document, revision: this.#servedRevision };
  }

  /**
   * Returns the entry of a provider, with its secrets, for a test: the entry after a change to `value`, or the present
   * one. A test with secrets of the configuration is written to the audit log.
   */
  async entryForTest(caller: Caller, name: string, value?: JsonObject): Promise<JsonObject> {
    const { base, audit } = this.#parts;
    const present = this.#present();
    const content = this.isEditable ? present.content : contentOf(this.#config);
    const { shown, entry, usesStored } = testedEntry({ ...present, content }, base, name, value);
    const target = `providers.${name}`;
    if (usesStored) await audit.save(caller, { action: "provider.test", target, after: shown });
    return entry;
  }

  /** The configuration after some changes. Throws if it is invalid; nothing is saved. */
  async proposed(changes: readonly ConfigurationChange[]): Promise<Config> {
    this.#checkEditable();
    const { config } = this.#changed(changes);
    await this.#served!.check(config);
    return config;
  }

  /**
   * Changes entries of the configuration. If they have these values already, nothing is saved. Throws 409 if another
   * change was saved after `basedOn`.
   */
  change(
    caller: Caller,
    basedOn: number,
    changes: readonly ConfigurationChange[],
    action = "configuration.change",
  ): Promise<void> {
    return this.#inTurn(async () => {
      await this.#checkBase(basedOn);
      const next = this.#changed(changes);
      const { document } = this.#current;
      const after = next.content.document;
      const entries = changedEntries(document, after);
      if (entries.length === 0 && !this.#invalid) return;
      await this.#save(caller, next, { action, ...differences(document, after, entries) });
    });
  }

  /**
   * Makes an earlier revision the newest one. Secrets that were replaced after it keep their new values, unless the
   * earlier revision sends them to another address. Returns the fields whose secret keeps a new value.
   */
  revert(caller: Caller, basedOn: number, revision: number): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      await this.#checkBase(basedOn);
      const earlier = this.#described(await this.#revision(revision));
      const { document, kept } = revertedDocument(this.#present(), earlier);
      const all = { ...earlier.content.secrets, ...this.#current.secrets };
      const secrets = secretsOf(document as unknown as Json, all);
      const next = this.#described({ document, secrets });
      const { document: before } = this.#current;
      const entries = changedEntries(before, document);
      if (entries.length === 0 && !this.#invalid) return kept;
      const changed = differences(before, document, entries);
      const target = `revision ${revision}`;
      await this.#save(caller, next, { ...changed, action: "configuration.revert", target });
      return kept;
    });
  }

  /** The configuration of a content. Throws if it is invalid. */
  #described(content: Content): Described {
    const { base, env } = this.#parts;
    return { content, config: configOf(content, base), env };
  }

  /** The content that is served. */
  #present(): Described {
    return { content: this.#current, config: this.#config, env: this.#parts.env };
  }

  /** The configuration after changes. Throws if it is invalid, or sends a stored secret to another origin. */
  #changed(changes: readonly ConfigurationChange[]): Described {
    const { document, secrets } = this.#current;
    const models = modelsBefore(this.#served!, document, changes);
    const content = applyChanges({ document: { ...document, models }, secrets }, changes);
    const next = this.#described(content);
    checkOrigins(this.#present(), next, content.entered);
    return next;
  }

  async #save(
    caller: Caller,
    { content: { document, secrets }, config }: Described,
    entry: { action: string; target: string; before: Json; after: Json },
  ): Promise<void> {
    const { store, audit, vault } = this.#parts;
    await this.#served!.check(config);
    const revision = this.revision + 1;
    const record = audit.newRecord(caller, { ...entry, revision });
    const next = { document, secrets, revision };
    const stored = sealRevision(next, record.at, vault);
    if (!(await store.saveConfiguration(stored, record))) {
      throw await staleError(store, revision - 1, revision);
    }
    await this.#served!.apply(config);
    this.#serves(next, config);
  }

  /** Remembers the revision that is served now. */
  #serves(current: Revision, config: Config): void {
    this.#current = current;
    this.#servedRevision = current.revision;
    this.#invalid = undefined;
    this.#config = config;
  }

  async #checkBase(basedOn: number): Promise<void> {
    this.#checkEditable();
    await this.#load();
    const { revision } = this;
    if (basedOn !== revision) throw await staleError(this.#parts.store, basedOn, revision);
  }

  #checkEditable(): void {
    const { managed } = this.#parts;
    if (managed.by === "store") return;
    const place = managed.by === "file" ? managed.file : "the program that started the gateway";
    throw new HttpError(409, `the configuration is managed by ${place}`, {
      hint: "change it there; without joust.yaml, it is managed in the store",
      code: "configuration_read_only",
    });
  }

  async #revision(revision: number): Promise<Content> {
    if (revision === 0) return { document: FIRST_DOCUMENT, secrets: {} };
    const stored = await this.#parts.store.configuration(revision);
    if (stored?.revision === revision) return openRevision(stored, this.#parts.vault);
    throw new HttpError(404, `there is no revision ${revision}`, {
      hint: "GET /v1/admin/audit lists the revisions",
      code: "revision_not_found",
      param: "revision",
    });
  }

  /** Serves the newest configuration, if another node has saved one. Errors are logged: the previous one stays in use. */
  #refresh(): void {
    this.#inTurn(() => this.#load()).catch((error: unknown) => {
      const problem = formatErrorLine(error);
      if (problem === this.#logged) return;
      this.#logged = problem;
      this.#parts.logger.error({ problem }, "the stored configuration cannot be served");
    });
  }

  async #load(): Promise<void> {
    const { store, base, vault } = this.#parts;
    if ((await store.revision()) <= this.revision) return;
    const stored = (await store.configuration())!;
    const next = openRevision(stored, vault);
    const config = configOf(next, base);
    await this.#served!.apply(config);
    this.#serves(next, config);
    this.#parts.logger.warn({ revision: stored.revision }, "the configuration was changed");
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(run);
    this.#queue = result.catch(() => {});
    return result;
  }
}

const POLL_MS = 2000;
