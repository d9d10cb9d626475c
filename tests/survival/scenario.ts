// Runs faults on services at work, each as often as its time allows, and has the checker compare what clients got with what is there.
import type { Finding } from './checker/store-checks.ts';

/** Clients of a target. */
export interface Load {
  answered(): number;
  stop(): Promise<void>;
  /** What does not hold of all that clients got. Call it after `stop`. */
  findings(): Promise<readonly Finding[]>;
}

/** Brings a fault about once, and resolves when clients are answered again; with a reason where it cannot be had on this machine, or not once more. */
export type Fault<Target, L extends Load> = (
  target: Target,
  load: L,
  round: number,
) => Promise<string | undefined> | Promise<void>;

export interface Group<Target extends AsyncDisposable, L extends Load> {
  readonly name: string;
  readonly open: () => Promise<Target & { readonly checker: { readonly receipts: number } }>;
  readonly load: (target: Target) => Promise<L>;
  readonly faults: Readonly<Record<string, Fault<Target, L>>>;
}

export interface Row {
  readonly target: string;
  readonly fault: string;
  readonly times: number;
  /** Answers that clients got during this fault. */
  readonly answered: number;
  /** Receipts of this and of earlier faults at the target: each is verified again. */
  readonly receipts: number;
  readonly findings: readonly Finding[];
  /** Why it was not tried. */
  readonly skipped?: string;
}

export interface RunOptions {
  /** Names of faults; all by default. */
  readonly only?: (fault: string) => boolean;
  readonly maxTimes?: number;
  /** The time of `performance.now()` when this group should be over. */
  readonly until: number;
  readonly onRow?: (row: Row) => void;
}

/** Share of a fault's time in which it is brought about again; the rest is for the checker. */
const REPEATED_SHARE = 0.6;

/** Each fault is injected at least once, except those that would start after `until`. */
export async function runGroup<Target extends AsyncDisposable, L extends Load>(
  group: Group<Target, L>,
  { only = () => true, maxTimes = 100, until, onRow = () => {} }: RunOptions,
): Promise<readonly Row[]> {
  const faults = Object.entries(group.faults).filter(([name]) => only(name));
  await using target = await group.open();
  const rows: Row[] = [];
  for (const [i, [name, fault]] of faults.entries()) {
    const leftMs = until - performance.now();
    const repeatedUntil = performance.now() + (REPEATED_SHARE * leftMs) / (faults.length - i);
    const mayRepeat = (times: number) => times < maxTimes && performance.now() < repeatedUntil;
    const result = i > 0 && leftMs < 0 ? OUT_OF_TIME : await bringAbout(group, target, { fault, mayRepeat });
    const row = { target: group.name, fault: name, ...result, receipts: target.checker.receipts };
    rows.push(row);
    onRow(row);
  }
  return rows;
}

type Result = Omit<Row, 'target' | 'fault' | 'receipts'>;
const OUT_OF_TIME: Result = { times: 0, answered: 0, findings: [{ kind: 'wrong', what: 'there was no time for it' }] };

async function bringAbout<Target extends AsyncDisposable, L extends Load>(
  group: Group<Target, L>,
  target: Target,
  { fault, mayRepeat }: { readonly fault: Fault<Target, L>; readonly mayRepeat: (times: number) => boolean },
): Promise<Result> {
  const load = await group.load(target);
  const findings: Finding[] = [];
  let times = 0;
  let skipped: string | undefined;
  try {
    do {
      const reason = await fault(target, load, times);
      if (typeof reason === 'string') {
        if (times === 0) skipped = reason;
        break;
      }
      times += 1;
    } while (mayRepeat(times));
  } catch (error) {
    findings.push(failed(error));
  } finally {
    await load.stop();
  }
  findings.push(...(await load.findings().catch((error) => [failed(error)])));
  return { times, answered: load.answered(), findings, ...(skipped !== undefined && { skipped }) };
}

const failed = (error: unknown): Finding => ({ kind: 'wrong', what: (error as Error).stack ?? String(error) });

/** A place is named in its first row only; `ok` means that nothing was lost, doubled or wrong. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row, i) => [
    ...[row.target === rows[i - 1]?.target ? '' : row.target, row.fault, row.times, row.answered, row.receipts],
    resultOf(row),
  ]);
  const head = ['processes', 'fault', 'times', 'requests answered', 'receipts checked', 'result'];
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |\n`).join('');
}

function resultOf({ findings, skipped }: Row): string {
  if (findings.length === 0) return skipped ? `not tried: ${skipped}` : 'ok';
  const counts = Object.entries(Object.groupBy(findings, ({ kind }) => kind)).map(
    ([kind, { length }]) => `${length} ${kind}`,
  );
  return `**${counts.join(', ')}**`;
}
