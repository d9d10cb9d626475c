// `strata stack query`: the domains that match a query, with facets, as a table, CSV, NDJSON or JSON.
import { StackProblem } from '@strata/client';
import { csvBytes } from '@strata/http';
import type { CommandContext } from '../../context.ts';
import { counted, printJson, printTable } from '../../output.ts';
import { clientOf, refused, type ServiceOptions } from '../records/service-client.ts';

export interface QueryCommandOptions extends ServiceOptions {
  readonly sort?: string;
  readonly facets?: string;
  readonly limit: number;
  readonly format: 'table' | 'csv' | 'ndjson' | 'json';
}

const COLUMNS = ['domain', 'state', 'sector', 'score', 'scanned_at', 'providers', 'first_seen', 'changed_at'];

export async function queryCommand(
  { stdout, stderr }: CommandContext,
  text: string,
  { sort, facets, limit, format, ...service }: QueryCommandOptions,
): Promise<void> {
  const asked = { query: text, sort, facets: facets?.split(',').map((name) => name.trim()), limit };
  const { body } = await clientOf(service)
    .query(asked)
    .catch((cause: unknown) => {
      const errors = cause instanceof StackProblem ? cause.errors : [];
      const at = errors.find(({ field }) => field === 'query')?.position;
      if (at !== undefined) stderr.write(`${text}\n${' '.repeat(at - 1)}^\n`);
      return refused(cause);
    });
  if (format === 'json') return printJson(stdout, body);
  if (format === 'ndjson') {
    for (const found of body.results) stdout.write(`${JSON.stringify(found)}\n`);
    return;
  }
  const rows = body.results.map(({ services, ...found }) => {
    const { domain, state, sector, score, scanned_at, first_seen, changed_at } = found;
    const providers = [...new Set(services.map(({ provider_id }) => provider_id))].join(';');
    return [domain, state, sector, score, scanned_at, providers, first_seen, changed_at];
  });
  if (format === 'csv') {
    stdout.write(csvBytes(COLUMNS, { rows }));
    return;
  }
  printTable(
    stdout,
    COLUMNS,
    rows.map((row) => row.map((cell) => String(cell ?? ''))),
  );
  const more = rows.length < body.total ? `; ${rows.length} are shown, --limit shows up to 1,000` : '';
  stderr.write(`${counted(body.total, 'domain')}${more}\n`);
  for (const { facet, values } of body.facets)
    printTable(
      stdout,
      [facet, 'domains'],
      values.map(({ name, domains }) => [name, String(domains)]),
    );
}
