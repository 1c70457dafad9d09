import type { z } from "zod";
import type * as admin from "../api/admin.ts";
import type { Value } from "../api/common.ts";
import type * as config from "../api/configuration.ts";
import type * as providers from "../api/providers.ts";
import type { Backup, System } from "../api/system.ts";
import type * as voters from "../api/voters.ts";
import { type CallOptions, HttpClient } from "./http-client.ts";

type Input<S extends z.ZodType> = Readonly<z.input<S>>;

/** Methods for operators: the configuration, API keys, control of learning. */
export class AdminClient extends HttpClient {
  freeze(router: string, options?: CallOptions): Promise<Value<typeof admin.Frozen>> {
    return this.post(controlOf(router, "freeze"), {}, options);
  }

  thaw(
    router: string,
    request: Input<typeof admin.ThawRequest> = {},
    options?: CallOptions,
  ): Promise<Value<typeof admin.Frozen>> {
    return this.post(controlOf(router, "thaw"), request, options);
  }

  rollBack(
    router: string,
    request: Input<typeof admin.RollbackRequest>,
    options?: CallOptions,
  ): Promise<Value<typeof admin.RolledBack>> {
    return this.post(controlOf(router, "rollback"), request, options);
  }

  forget(
    router: string,
    request: Input<typeof admin.ForgetRequest>,
    options?: CallOptions,
  ): Promise<Value<typeof admin.Forgotten>> {
    return this.post(controlOf(router, "forget"), request, options);
  }

  /** A page of the voters of a router, by name. */
  routerVoters(
    router: string,
    query: Partial<Value<typeof voters.VotersQuery>> = {},
    options?: CallOptions,
  ): Promise<voters.VoterList> {
    return this.get(controlOf(router, "voters"), query, options);
  }

  /** Sets the weight of a voter: 0 excludes the voter, 1 is the default. */
  weighVoter(
    router: string,
    request: Input<typeof voters.WeighRequest>,
    options?: CallOptions,
  ): Promise<Value<typeof voters.Weighed>> {
    return this.post(controlOf(router, "weigh"), request, options);
  }

  keys(options?: CallOptions): Promise<Value<typeof admin.KeyList>> {
    return this.get("/v1/admin/keys", {}, options);
  }

  addKey(
    request: Input<typeof admin.NewKey>,
    options?: CallOptions,
  ): Promise<Value<typeof admin.KeyWithSecret>> {
    return this.post("/v1/admin/keys", request, options);
  }

  revokeKey(id: string, options?: CallOptions): Promise<admin.Key> {
    return this.post(`/v1/admin/keys/${encodeURIComponent(id)}/revoke`, {}, options);
  }

  setBudget(
    id: string,
    request: Input<typeof admin.BudgetRequest>,
    options?: CallOptions,
  ): Promise<admin.Key> {
    return this.post(`/v1/admin/keys/${encodeURIComponent(id)}/budget`, request, options);
  }

  setConcurrent(
    id: string,
    request: Input<typeof admin.ConcurrentRequest>,
    options?: CallOptions,
  ): Promise<admin.Key> {
    return this.post(`/v1/admin/keys/${encodeURIComponent(id)}/concurrent`, request, options);
  }

  /** Changes scopes and limits of a key; null removes a limit. */
  setKeyLimits(
    id: string,
    request: Input<typeof admin.KeyLimits>,
    options?: CallOptions,
  ): Promise<admin.Key> {
    return this.post(`/v1/admin/keys/${encodeURIComponent(id)}/limits`, request, options);
  }

  configuration(options?: CallOptions): Promise<config.Configuration> {
    return this.get("/v1/admin/configuration", {}, options);
  }

  /** Changes entries of a configuration that is managed in the store. */
  changeConfiguration(
    request: Input<typeof config.ChangeRequest>,
    options?: CallOptions,
  ): Promise<config.Configuration> {
    return this.post("/v1/admin/configuration", request, options);
  }

  /** Checks changes, and shows their effect on last week's requests. */
  previewConfiguration(
    request: Input<typeof config.PreviewRequest>,
    options?: CallOptions,
  ): Promise<Value<typeof config.Preview>> {
    return this.post("/v1/admin/configuration/preview", request, options);
  }

  revertConfiguration(
    request: Input<typeof config.RevertRequest>,
    options?: CallOptions,
  ): Promise<config.Configuration> {
    return this.post("/v1/admin/configuration/revert", request, options);
  }

  /** The configuration as joust.yaml, without secrets. */
  async exportConfiguration(options?: CallOptions): Promise<string> {
    return (await this.send("/v1/admin/configuration/export", {}, options)).text();
  }

  audit(
    query: Partial<Value<typeof config.AuditQuery>> = {},
    options?: CallOptions,
  ): Promise<Value<typeof config.AuditList>> {
    return this.get("/v1/admin/audit", query, options);
  }

  providers(options?: CallOptions): Promise<Value<typeof providers.ProviderList>> {
    return this.get("/v1/admin/providers", {}, options);
  }

  catalog(
    query: Value<typeof providers.CatalogQuery>,
    options?: CallOptions,
  ): Promise<Value<typeof providers.CatalogList>> {
    return this.get("/v1/admin/catalog", query, options);
  }

  testProvider(
    request: Input<typeof providers.TestRequest>,
    options?: CallOptions,
  ): Promise<providers.ProviderTest> {
    return this.post("/v1/admin/providers/test", request, options);
  }

  /** Adds a provider by its key, with those of its default models that answer. */
  setup(
    request: Input<typeof providers.SetupRequest>,
    options?: CallOptions,
  ): Promise<Value<typeof providers.SetupResult>> {
    return this.post("/v1/admin/setup", request, options);
  }

  system(options?: CallOptions): Promise<Value<typeof System>> {
    return this.get("/v1/admin/system", {}, options);
  }

  /** Writes a backup into the data folder of the node that answers. */
  backup(options?: CallOptions): Promise<Value<typeof Backup>> {
    return this.post("/v1/admin/backup", {}, options);
  }
}

function controlOf(router: string, action: string): string {
  return `/v1/admin/routers/${encodeURIComponent(router)}/${action}`;
}
