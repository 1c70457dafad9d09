/**
 * The pool alone: undici's index loads fetch, caches, mocks and WebSockets as
 * well, which is a fifth of a second and 5 MB of every gateway.
 */
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
