/** A module that makes Node collect all garbage in each round of its event loop. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
setInterval(collect, 1).unref();
