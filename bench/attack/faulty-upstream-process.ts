/** An upstream in its own process, so that its work does not delay the clients of an attack. Started by faulty-upstream.ts. */
import { startMisbehaving } from "../../src/gateway/providers/upstream/misbehaving.fixture.ts";

const upstream = await startMisbehaving();
process.send!(upstream.url("well"));
