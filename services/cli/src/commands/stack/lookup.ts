// `strata stack lookup`: what a service knows about a list of domains, as a table, CSV, NDJSON or JSON.
import type { StackClient } from '@strata/client';
import { csvBytes } from '@strata/http';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { counted, printJson, printRejected, printTable } from '../../output.ts';
import { clientOf, refusalOf } from '../records/service-client.ts';
import { readTargets } from '../scan/scan-targets.ts';

export interface LookupCommandOptions {
  readonly fields?: string;
  readonly format: 'table' | 'csv' | 'ndjson' | 'json';
  readonly base: string;
  readonly key?: string;
}

/** The limit of the service. */
const NAMES_AT_ONCE = 1_000;
/** Those that fit on a screen. */
const TABLE_FIELDS = ['domain', 'state', 'sector', 'grade', 'dns', 'mailbox', 'edge', 'origin'];

type Row = Readonly<Record<string, string | number | null>>;

export async function lookupCommand(
  { stdin, stdout, stderr }: CommandContext,
  targets: readonly string[],
  { fields: names, format, base, key }: LookupCommandOptions,
): Promise<void> {
  const client = clientOf({ base, key });
  const fields = names?.split(',').map((name) => name.trim()) ?? (format === 'table' ? TABLE_FIELDS : undefined);
  const { domains, rejected } = await readTargets(targets, stdin);
  printRejected(stderr, rejected);
  if (domains.length === 0) throw new CommandError('no domains to look up');

  const kept: Row[] = [];
  for (let from = 0; from < domains.length; from += NAMES_AT_ONCE) {
    const rows = await lookUp(client, domains.slice(from, from + NAMES_AT_ONCE), { fields, done: from });
    const columns = Object.keys(rows[0] ?? {});
    if (format === 'csv')
      stdout.write(csvBytes(columns, { rows: rows.map(Object.values<Row[string]>) }, { hasHeader: from === 0 }));
    else if (format === 'ndjson') stdout.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    else kept.push(...rows);
  }
  if (format === 'json') printJson(stdout, { rows: kept });
  if (format !== 'table') return;
  const cells = kept.map((row) => Object.values(row).map((cell) => String(cell ?? '')));
  printTable(stdout, Object.keys(kept[0] ?? {}), cells);
}

/** Rows have their columns in the order asked for. `done` names are printed already. */
async function lookUp(
  client: StackClient,
  domains: readonly string[],
  { fields, done }: { readonly fields: readonly string[] | undefined; readonly done: number },
): Promise<readonly Row[]> {
  try {
    const { body } = await client.lookup(domains, { fields });
    return body.rows.map((row) => ({ ...row }));
  } catch (cause) {
    throw refusalOf(cause, done === 0 ? '' : ` (after ${counted(done, 'domain')})`);
  }
}
