// `strata stack segment` and `strata stack compare`: the saved queries of a key, and two queries compared.
import type { StackInput } from '@strata/client';
import type { CommandContext } from '../../context.ts';
import { type OutputOptions, printJson, printTable } from '../../output.ts';
import { clientOf, refused, type ServiceOptions } from '../records/service-client.ts';

const PATH = '/stack/v1/intelligence/comparison';

export interface CompareOptions extends ServiceOptions, OutputOptions {
  readonly category?: string;
  readonly role?: string;
  readonly limit: number;
}

export async function saveSegment(
  { stdout }: CommandContext,
  [name, query]: readonly [string, string],
  service: ServiceOptions,
): Promise<void> {
  const request = 'PUT /stack/v1/segments/{name}';
  const { body } = await clientOf(service).send(request, { path: { name }, body: { query } }).catch(refused);
  stdout.write(`segment:${body.segment.name} is saved\n`);
}

export async function listSegments({ stdout }: CommandContext, service: ServiceOptions): Promise<void> {
  const { body } = await clientOf(service)
    .get('/stack/v1/segments', { query: { limit: 1_000 } })
    .catch(refused);
  const rows = body.segments.map(({ name, query }) => [name, query]);
  printTable(stdout, ['name', 'query'], rows);
}

export async function deleteSegment({ stdout }: CommandContext, name: string, service: ServiceOptions): Promise<void> {
  await clientOf(service).send('DELETE /stack/v1/segments/{name}', { path: { name } }).catch(refused);
  stdout.write(`segment:${name} is deleted\n`);
}

export async function compareCommand(
  { stdout, stderr }: CommandContext,
  [a, b]: readonly [string, string],
  { category, role, limit, json, ...service }: CompareOptions,
): Promise<void> {
  const query = { a, b, category, role, limit } as StackInput<typeof PATH>['query'];
  const client = clientOf(service);
  const { body } = await client.get(PATH, { query }).catch(refused);
  // A plain word matches names: the name of a segment as one matches nothing as a rule.
  const empty = [a, b].filter((_, i) => (i === 0 ? body.a : body.b).domains === 0);
  if (empty.length > 0) {
    const { body: saved } = await client.get('/stack/v1/segments', { query: { limit: 1_000 } }).catch(refused);
    for (const { name } of saved.segments)
      if (empty.includes(name))
        stderr.write(`no domain matches ${name}; the segment of this name is segment:${name}\n`);
  }
  if (json) return printJson(stdout, body);
  const scores = [body.a, body.b].map(({ domains, mean_score, grades }) => [
    ...[String(domains), mean_score?.toFixed(1) ?? '', ...grades.map((grade) => String(grade.domains))],
  ]);
  const head = ['', 'domains', 'mean score', ...body.a.grades.map(({ grade }) => grade)];
  printTable(stdout, head, [
    ['a', ...(scores[0] ?? [])],
    ['b', ...(scores[1] ?? [])],
  ]);
  const markets = role === undefined ? body.categories : body.roles;
  const rows = markets.flatMap((market) =>
    market.providers.map(({ provider, difference, ...sides }) => [
      ...[role ?? market.category, provider],
      ...(['a', 'b'] as const).map((side) => shareOf(sides[side].share, market[side].denominator)),
      difference === null ? '' : `${(difference * 100).toFixed(1)} points`,
    ]),
  );
  if (rows.length > 0)
    printTable(stdout, [role === undefined ? 'category' : 'role', 'provider', 'a', 'b', 'b - a'], rows);
  if (rows.length > 0) stdout.write('a domain with several providers counts as an equal part for each\n');
}

const percent = (share: number | null) => (share === null ? '' : `${(share * 100).toFixed(1)} %`);

/** `41.2 % (14 of 34)`, few domains make large shares; `2.5 % (0.2 of 8)` if one has five providers, each with a fifth. */
const shareOf = (share: number | null, of: number) =>
  share === null ? '' : `${percent(share)} (${Number((share * of).toFixed(2))} of ${of})`;
