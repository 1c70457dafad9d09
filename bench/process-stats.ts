/** Memory and processor time of running processes, from /proc. */
import { readdir, readFile } from "node:fs/promises";

/** Resident memory in MB: now, or the most that the process ever had. */
export async function memory(pid: number, field: "VmRSS" | "VmHWM" = "VmRSS"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return (Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1]) * 1024) / 1e6;
}

/** Processor seconds that a process has used, to a hundredth. Threads that have ended count. */
export async function processorSeconds(pid: number): Promise<number> {
  return (await processOf(pid)).seconds;
}

/** Processor seconds of a process and of those that it has started. */
export async function familySeconds(pid: number): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  // A process that has ended meanwhile is left out.
  const all = await Promise.allSettled(pids.map(processOf));
  const found = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  return found.reduce(
    (sum, one) => (one.pid === pid || one.parent === pid ? sum + one.seconds : sum),
    0,
  );
}

async function processOf(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name of the program is in parentheses and may contain spaces.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  return { pid, parent: fields[1]!, seconds: (fields[11]! + fields[12]!) / 100 };
}

/** Processor seconds that the present threads of a process have used, to the nanosecond. */
export async function threadSeconds(pid: number): Promise<number> {
  const tasks = `/proc/${pid}/task`;
  const used = (await readdir(tasks)).map(async (thread) => {
    const stat = await readFile(`${tasks}/${thread}/schedstat`, "utf8").catch(() => "0");
    return Number.parseInt(stat, 10);
  });
  return (await Promise.all(used)).reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9;
}
