import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import Fastify from "fastify";
import { addOpenApi } from "./openapi.ts";
import { addRoutes, type RouteParts } from "./routes.ts";

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema?: object }>>;
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Content of /openapi.json. */
export async function describeApi(): Promise<Description> {
  const app = Fastify()
    .setValidatorCompiler(() => () => true)
    .setSerializerCompiler(() => JSON.stringify);
  await addOpenApi(app, "0.0.0");
  // The handlers are never called.
  addRoutes(app, { handlers: {} } as RouteParts);
  await app.ready();
  return app.swagger() as unknown as Description;
}

/** Checks JSON responses against /openapi.json. */
export class Conformance {
  readonly operations: readonly { readonly id: string; readonly operation: Operation }[];
  /** Ids of the operations of which a JSON response with status 200 was checked. */
  readonly checked = new Set<string>();
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #patterns: readonly { readonly pattern: RegExp; readonly path: string }[];
  readonly #validators = new Map<string, ValidateFunction | undefined>();

  constructor(description: Description) {
    this.#ajv.addSchema(description, "api");
    this.operations = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        id: `${method} ${path}`,
        operation,
      })),
    );
    // Paths without parameters first.
    this.#patterns = Object.keys(description.paths)
      .toSorted((a, b) => Number(a.includes("{")) - Number(b.includes("{")))
      .map((path) => ({
        path,
        pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}/?$`),
      }));
  }

  /** Describes how a JSON response differs from its documentation; undefined if it does not. */
  faultOf(method: string, target: string, status: number, body: unknown): string | undefined {
    const [path = ""] = target.split("?");
    const found = this.#patterns.find(({ pattern }) => pattern.test(path));
    if (!found || status === 405) return undefined;
    const id = `${method.toLowerCase()} ${found.path}`;
    const validate = this.#validator(id, String(status)) ?? this.#validator(id, "default");
    if (!validate) return `${id} does not document a JSON response with status ${status}`;
    if (!validate(body)) return `${id} ${status}: ${this.#ajv.errorsText(validate.errors)}`;
    if (status === 200) this.checked.add(id);
    return undefined;
  }

  #validator(id: string, status: string): ValidateFunction | undefined {
    const key = `${id} ${status}`;
    if (!this.#validators.has(key)) {
      const [method, path] = id.split(" ") as [string, string];
      const pointer = ["paths", path, method, "responses", status, "content"];
      const parts = [...pointer, "application/json", "schema"].map((part) =>
        encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")),
      );
      this.#validators.set(key, compiled(this.#ajv, `api#/${parts.join("/")}`));
    }
    return this.#validators.get(key);
  }
}

function compiled(ajv: Ajv2020, ref: string): ValidateFunction | undefined {
  try {
    return ajv.compile({ $ref: ref });
  } catch {
    return undefined; // not documented
  }
}
