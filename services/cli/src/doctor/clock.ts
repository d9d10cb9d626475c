// Whether the clock can be right: a machine alone cannot know it, but much that is wrong shows.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Finding, ok, problem, warning } from './finding.ts';

export interface ClockFacts {
  readonly now: Date;
  /** When this program was installed: the clock cannot be before. */
  readonly installedAt: Date;
  /** How far the wall clock went away from the monotonic one while it was watched. */
  readonly jumpMs: number;
  /** What systemd says; undefined where it says nothing. */
  readonly isSynchronized: boolean | undefined;
}

const WATCH_MS = 500;
/** Time servers slew by at most 0.5 ms a second; this is a step. */
const MOST_JUMP_MS = 50;
const ASK_MS = 3_000;

/** Watches the clock for half a second. */
export async function readClock(): Promise<ClockFacts> {
  const [wall, steady] = [Date.now(), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  const jumpMs = Date.now() - wall - (performance.now() - steady);
  const { mtime } = await stat(new URL('../main.ts', import.meta.url));
  return { now: new Date(), installedAt: mtime, jumpMs, isSynchronized: await askSystemd() };
}

async function askSystemd(): Promise<boolean | undefined> {
  try {
    const ask = promisify(execFile)('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
      timeout: ASK_MS,
    });
    const said = (await ask).stdout.trim();
    return said === 'yes' ? true : said === 'no' ? false : undefined;
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
      means:
        'Receipts would be signed for a time that is past, certificates would be refused, quotas would begin anew.',
      todo: 'Set the clock, and keep it right with a time service (systemd-timesyncd, chrony).',
    });
  if (Math.abs(jumpMs) > MOST_JUMP_MS)
    return warning(check, {
      found: `it jumped by ${Math.round(jumpMs)} ms while it was watched`,
      means: 'Times of scans and receipts may be out of order.',
      todo: 'See whether two time services set it, or the virtual machine was paused.',
    });
  if (isSynchronized === false)
    return warning(check, {
      found: `${at}, not synchronised as systemd says`,
      means: 'It drifts, and times in receipts and changes with it.',
      todo: 'Turn a time service on: timedatectl set-ntp true.',
    });
  const said = isSynchronized ? ', synchronised as systemd says' : '; whether it is right cannot be known here';
  return ok(check, `${at}, steady${said}`);
}
