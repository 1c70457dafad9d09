/** The export "joust/gateway": the gateway as a part of another program. */
export { JoustError } from "./core/errors/joust-error.ts";
export {
  type GatewayConfig,
  type StartedGateway,
  type StartOptions,
  startGateway,
} from "./gateway/start-gateway.ts";
