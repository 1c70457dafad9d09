import type { FastifyReply, FastifyRequest } from "fastify";
import { Session, SignInRequest } from "../../api/session.ts";
import type { Access } from "../access/access.ts";
import { cookieOf, type SignedIn } from "../access/sign-ins.ts";
import type { Clock } from "../clock/clock.ts";
import { type App, contract } from "./app.ts";

export interface SessionParts {
  readonly access: Pick<Access, "isOpen" | "signedIn" | "signIn" | "signOut">;
  readonly clock: Clock;
}

/** Adds the endpoints with which a browser signs in, so that no script of the page has to keep the key. */
export function addSessionRoutes(app: App, { access, clock }: SessionParts): void {
  app.get(
    "/v1/session",
    contract({
      summary: "Tells whether a key is required and whether the browser is signed in.",
      response: Session,
    }),
    async ({ raw }, reply) => {
      reply.header("cache-control", "no-store");
      const signedIn = await access.signedIn(raw.headers);
      return sessionOf(access.isOpen, signedIn);
    },
  );
  app.post(
    "/v1/session",
    contract({
      summary: "Signs a browser in with an API key. The session is kept in a cookie.",
      byAddress: true,
      body: SignInRequest,
      response: Session,
      errors: [401, 429, 503],
    }),
    async (request, reply) => {
      // Without keys there is nothing to sign in to.
      if (access.isOpen) return sessionOf(true, undefined);
      const signedIn = await access.signIn(request.body.key.trim());
      const seconds = (signedIn.expiresAt - clock.date()) / 1000;
      setCookie(request, reply, signedIn.token, seconds);
      return sessionOf(false, signedIn);
    },
  );
  app.delete(
    "/v1/session",
    contract({
      summary: "Signs the browser out. The session is refused from then on.",
      response: Session,
      errors: [503],
    }),
    async (request, reply) => {
      await access.signOut(request.raw.headers);
      setCookie(request, reply, "", 0);
      return sessionOf(access.isOpen, undefined);
    },
  );
}

/**
 * Sets the cookie of the session. If this request came over TLS, to the gateway or to a trusted proxy, browsers send
 * the cookie only over TLS.
 */
function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  seconds: number,
): void {
  reply.header("set-cookie", cookieOf(token, seconds, request.protocol === "https"));
  reply.header("cache-control", "no-store");
}

function sessionOf(isOpen: boolean, signedIn: SignedIn | undefined): Session {
  return {
    object: "session",
    required: !isOpen,
    ...(signedIn && {
      key: { name: signedIn.name, scopes: signedIn.scopes },
      expires_at: new Date(signedIn.expiresAt).toISOString(),
      csrf: signedIn.csrf,
    }),
  };
}
