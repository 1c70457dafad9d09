/** A host of models in its own process, so that its work does not delay the clients of an attack. Started by host.ts. */
import { startMisbehaving } from "../../src/gateway/providers/upstream/misbehaving.fixture.ts";

const host = await startMisbehaving();
process.send!(host.url("well"));
