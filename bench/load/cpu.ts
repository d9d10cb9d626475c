// Processor time: of a PostgreSQL server with all its processes, and of the machine.
import { readdir, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { PostgresServer } from '../../tests/support/database/postgres.ts';

/** A tick of /proc/PID/stat, see proc_pid_stat(5): a hundredth of a second wherever Node runs on Linux. */
const TICK_SECONDS = 0.01;

interface Stat {
  readonly parent: string;
  readonly seconds: number;
  /** Of children that have ended. */
  readonly endedSeconds: number;
}

async function statOf(pid: string): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program comes second and may hold blanks and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 15) return undefined;
  const ticks = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * TICK_SECONDS;
  return { parent: fields[1] ?? '', seconds: ticks(11), endedSeconds: ticks(13) };
}

/** Seconds of processor time since the server began, all its processes together; NaN where there is no /proc. */
export async function postgresCpuSeconds(server: PostgresServer): Promise<number> {
  const { rows } = await server.sql(`select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid`);
  const pid = String(rows[0]?.pid);
  const main = await statOf(pid);
  if (!main) return Number.NaN;
  const all = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(statOf));
  const children = all.filter((stat) => stat?.parent === pid);
  return children.reduce((sum, stat) => sum + (stat?.seconds ?? 0), main.seconds + main.endedSeconds);
}

/** Seconds since the start of the machine in which a core worked, all cores together, for any process. */
export function machineCpuSeconds(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) / 1_000, 0);
}
