/**
 * Types of undici's pool. The index of undici would also load fetch, caches, mocks and
 * WebSockets, which takes 0.2 s and 5 MB.
 */
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
