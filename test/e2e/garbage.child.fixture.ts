/** A module that makes Node collect all garbage on SIGUSR2, and then write "collected" to stderr. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
process.on("SIGUSR2", () => {
  collect();
  process.stderr.write("collected\n");
});
