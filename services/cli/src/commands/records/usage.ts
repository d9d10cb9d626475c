// `strata stack usage`: the requests of a key, by path and by day.
import type { CommandContext } from '../../context.ts';
import { counted, type OutputOptions, printJson, printTable } from '../../output.ts';
import { clientOf, refused, type ServiceOptions } from './service-client.ts';

export interface UsageOptions extends ServiceOptions, OutputOptions {
  readonly days: number;
}

interface Counts {
  readonly requests: number;
  readonly counted: number;
}

export async function usageCommand(
  { stdout }: CommandContext,
  { days, json, ...service }: UsageOptions,
): Promise<void> {
  const { body } = await clientOf(service).get('/stack/v1/usage', { query: { days } }).catch(refused);
  if (json) return printJson(stdout, body);
  const limit = body.daily_limit === null ? 'no daily limit' : `${body.daily_limit} requests a day`;
  const total = sumOf(body.days);
  stdout.write(
    `${body.key_id} (${body.tier}, ${limit}): ${counted(total.requests, 'request')} in ${counted(days, 'day')}\n`,
  );
  if (body.days.length === 0) return;
  const paths = Map.groupBy(
    body.days.flatMap((day) => day.paths),
    ({ path, source }) => `${source} ${path}`,
  );
  const sums = [...paths.values()].map(([first, ...more]) => ({ ...first, ...sumOf(first ? [first, ...more] : []) }));
  const rowOf = (name: string, each: Counts, source = '') => [name, source, `${each.requests}`, `${each.counted}`];
  printTable(
    stdout,
    ['path', 'source', 'requests', 'of the quota'],
    sums.sort((a, b) => b.requests - a.requests).map((each) => rowOf(each.path ?? '', each, each.source)),
  );
  stdout.write('\n');
  printTable(
    stdout,
    ['day', '', 'requests', 'of the quota'],
    body.days.map((day) => rowOf(day.date, day)),
  );
}

function sumOf(rows: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => rows.reduce((total, row) => total + row[name], 0);
  return { requests: sum('requests'), counted: sum('counted') };
}
