// Checks the clock for errors that a machine can detect without a reference.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Finding, ok, problem, warning } from './finding.ts';

export interface ClockFacts {
  readonly now: Date;
  /** A correct clock is not before the installation of this program. */
  readonly installedAt: Date;
  /** Difference between the wall clock and the monotonic clock during the check. */
  readonly jumpMs: number;
  /** As reported by systemd; undefined without systemd. */
  readonly isSynchronized: boolean | undefined;
}

const WATCH_MS = 500;
/** A time service slews by at most 0.5 ms a second; a larger difference is a step. */
const MAX_JUMP_MS = 50;
const SYSTEMD_TIMEOUT_MS = 3_000;

/** Measures for half a second. */
export async function readClock(): Promise<ClockFacts> {
  const [wall, steady] = [Date.now(), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  const jumpMs = Date.now() - wall - (performance.now() - steady);
  const { mtime } = await stat(new URL('../main.ts', import.meta.url));
  return { now: new Date(), installedAt: mtime, jumpMs, isSynchronized: await systemdState() };
}

async function systemdState(): Promise<boolean | undefined> {
  try {
    const { stdout } = await promisify(execFile)('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
      timeout: SYSTEMD_TIMEOUT_MS,
    });
    const answer = stdout.trim();
    return answer === 'yes' ? true : answer === 'no' ? false : undefined;
  } catch {
    return undefined;
  }
}

export function judgeClock({ now, installedAt, jumpMs, isSynchronized }: ClockFacts): Finding {
  const check = 'clock';
  const at = now.toISOString();
  if (now < installedAt)
    return problem(check, {
      found: `${at}, before this program was installed (${installedAt.toISOString()})`,
      means: 'Receipts get wrong times, certificates are rejected, and quotas restart.',
      todo: 'Set the clock and enable a time service (systemd-timesyncd, chrony).',
    });
  if (Math.abs(jumpMs) > MAX_JUMP_MS)
    return warning(check, {
      found: `jumped by ${Math.round(jumpMs)} ms during the check`,
      means: 'Times of scans and receipts may be out of order.',
      todo: 'Check whether two time services are running, or the virtual machine was paused.',
    });
  if (isSynchronized === false)
    return warning(check, {
      found: `${at}, not synchronised (systemd)`,
      means: 'The clock drifts, and with it the times in receipts and changes.',
      todo: 'Enable a time service: timedatectl set-ntp true.',
    });
  return ok(check, `${at}, steady, ${isSynchronized ? 'synchronised (systemd)' : 'synchronisation unknown'}`);
}
