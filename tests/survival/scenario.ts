// Runs faults on services at work, each as often as its time allows, and has the checker compare what clients got with what is there.
import type { Finding } from './checker/store-checks.ts';

/** Clients of a place. */
export interface Load {
  answered(): number;
  stop(): Promise<void>;
  /** What does not hold of all that clients got. Call it after `stop`. */
  findings(): Promise<readonly Finding[]>;
}

/** Brings a fault about once, and resolves when clients are answered again; with a reason where it cannot be had on this machine. */
export type Fault<Place, L extends Load> = (
  place: Place,
  load: L,
  round: number,
) => Promise<string | undefined> | Promise<void>;

export interface Group<Place extends AsyncDisposable, L extends Load> {
  readonly name: string;
  readonly open: () => Promise<Place & { readonly checker: { readonly receipts: number } }>;
  readonly load: (place: Place) => Promise<L>;
  readonly faults: Readonly<Record<string, Fault<Place, L>>>;
}

export interface Row {
  readonly place: string;
  readonly fault: string;
  readonly times: number;
  /** Answers that clients got during this fault. */
  readonly answered: number;
  /** Receipts of this and of earlier faults at the place: each is looked for again. */
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

export async function runGroup<Place extends AsyncDisposable, L extends Load>(
  group: Group<Place, L>,
  { only = () => true, maxTimes = 100, until, onRow = () => {} }: RunOptions,
): Promise<readonly Row[]> {
  const faults = Object.entries(group.faults).filter(([name]) => only(name));
  if (faults.length === 0) return [];
  await using place = await group.open();
  const rows: Row[] = [];
  for (const [i, [fault, once]] of faults.entries()) {
    const startedAt = performance.now();
    const repeatedUntil = startedAt + (REPEATED_SHARE * (until - startedAt)) / (faults.length - i);
    const load = await group.load(place);
    const findings: Finding[] = [];
    let times = 0;
    let skipped: string | undefined;
    try {
      do {
        skipped = (await once(place, load, times)) ?? undefined;
        times += skipped === undefined ? 1 : 0;
      } while (skipped === undefined && times < maxTimes && performance.now() < repeatedUntil);
    } catch (error) {
      findings.push(failed(error));
    }
    await load.stop();
    findings.push(...(await load.findings().catch((error) => [failed(error)])));
    const answered = load.answered();
    const { receipts } = place.checker;
    const row = { place: group.name, fault, times, answered, receipts, findings, ...(skipped ? { skipped } : {}) };
    rows.push(row);
    onRow(row);
  }
  return rows;
}

const failed = (error: unknown): Finding => ({ kind: 'wrong', what: (error as Error).stack ?? String(error) });
const count = (row: Row, kind: Finding['kind']) => row.findings.filter((finding) => finding.kind === kind).length;

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    ...[row.place, row.fault, row.times, row.answered, row.receipts, count(row, 'lost'), count(row, 'doubled')],
    row.findings.length > 0 ? `**${row.findings.length} findings**` : row.skipped ? `not tried: ${row.skipped}` : 'ok',
  ]);
  const head = ['place', 'fault', 'times', 'requests answered', 'receipts checked', 'lost', 'doubled', 'result'];
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |\n`).join('');
}
