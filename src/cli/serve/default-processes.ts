import { availableParallelism, totalmem } from "node:os";

/** The part of a machine that this process may use. */
interface Machine {
  readonly cores: number;
  /** Bytes of memory. */
  readonly memory: number;
}

export function machine(): Machine {
  // 0 if the process has no limit of its own.
  const limit = process.constrainedMemory() || Infinity;
  return { cores: availableParallelism(), memory: Math.min(limit, totalmem()) };
}

/**
 * Number of processes that answer requests: one per core, at most 8, and no more than fit into the
 * memory under load. A small container on a large machine would be killed otherwise.
 */
export function defaultProcesses({ cores, memory }: Machine): number {
  const fitting = Math.floor((memory - SUPERVISOR_BYTES) / PROCESS_BYTES);
  return Math.max(1, Math.min(MOST_PROCESSES, cores, fitting));
}

const MOST_PROCESSES = 8;
/** Memory of the supervising process, and of one process under load. */
const SUPERVISOR_BYTES = 100e6;
const PROCESS_BYTES = 200e6;
