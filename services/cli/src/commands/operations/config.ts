// `strata config check|print`: the effective settings, before a service starts with them.

import type { CommandContext } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';
import { counted, type OutputOptions, plainText, printJson, printTable } from '../../output.ts';
import { mergedItems } from '../../settings/lists.ts';
import { LISTS } from '../../settings/retired.ts';
import { findSettings, type GivenSettings, openSecrets } from '../../settings/settings.ts';
import { SECRETS, SERVICES, type ServiceName, type SettingTable, tableOf } from '../../settings/tables.ts';
import { withMaskedKeys } from '../../settings/upstream-keys.ts';

export interface ConfigOptions extends OutputOptions {
  readonly service?: ServiceName;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Prints every problem of the settings. Throws CommandError (exit code 1) where there is one. */
export async function checkConfigCommand(
  { env, stdout }: CommandContext,
  { service, json = false }: ConfigOptions,
): Promise<void> {
  const problems = await problemsOf(service ? [service] : SERVICES, env);
  const settings = await findSettings(env, service ?? 'stack');
  const warnings = [...settings.warnings, ...(await openSecrets(settings.given))];
  if (!json) stdout.write(warnings.map((warning) => `warning: ${plainText(warning)}\n`).join(''));
  if (json) printJson(stdout, { ok: problems.length === 0, problems, warnings });
  else if (problems.length === 0) stdout.write('the settings are valid\n');
  else stdout.write(`${problems.map(plainText).join('\n')}\n`);
  if (problems.length > 0) throw new CommandError(`${counted(problems.length, 'problem')} in the settings`);
}

/** The problems of these services' settings, without duplicates; one that only some of them have names those. */
export async function problemsOf(services: readonly ServiceName[], env: Environment): Promise<readonly string[]> {
  const { given, problems } = await findSettings(env, services[0] ?? 'stack');
  const values = Object.fromEntries([...given].map(([name, { value }]) => [name, value]));
  const found = new Set(problems);
  // OTEL_* variables are not settings of Strata, but invalid ones prevent a start.
  const { checkTracing, SettingsError } = await import('@strata/http');
  try {
    checkTracing(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    found.add(error.message);
  }
  const affected = new Map<string, ServiceName[]>();
  for (const service of services) {
    try {
      await readers[service](values);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      for (const line of new Set(error.message.split('\n')))
        affected.set(line, [...(affected.get(line) ?? []), service]);
    }
  }
  for (const [line, of] of affected) found.add(withOrigin(line, of.length < services.length ? of : [], given));
  return [...found];
}

const readers: Readonly<Record<ServiceName, (values: Environment) => Promise<unknown>>> = {
  stack: async (values) => (await import('@strata/stack')).readConfig(values),
  gateway: async (values) => (await import('@strata/gateway')).readGatewayConfig(values),
  worker: async (values) => (await import('@strata/worker')).readWorkerConfig(values),
  witness: async (values) => (await import('../log/witness-config.ts')).readWitnessConfig(values),
};

/** Adds the services, and the source of the variable with which the line starts, where it is not the environment. */
function withOrigin(line: string, services: readonly ServiceName[], given: GivenSettings): string {
  const source = given.get(/^STRATA_\w+/.exec(line)?.[0] ?? '')?.source ?? '';
  const origin = [services.join(', '), source === 'environment' ? '' : source].filter((text) => text !== '');
  return origin.length === 0 ? line : `${line} (${origin.join('; ')})`;
}

interface Row {
  readonly name: string;
  readonly value: string;
  readonly source: string;
  readonly services: readonly ServiceName[];
}

/** Prints every setting with its value and source, secrets masked. Throws CommandError (exit code 2) for invalid ones. */
export async function printConfigCommand(
  { env, stdout }: CommandContext,
  { service, json = false }: ConfigOptions,
): Promise<void> {
  const services = service ? [service] : SERVICES;
  const problems = await problemsOf(services, env);
  if (problems.length > 0) throw usageError(`invalid settings\n${problems.join('\n')}`);
  const { given } = await findSettings(env, services[0] ?? 'stack');
  const rows = new Map<string, Row>();
  for (const each of services) {
    const table = await tableOf(each);
    const data = given.get('STRATA_DATA')?.value.trim() ?? defaultOf(table, 'STRATA_DATA');
    for (const name of Object.keys(table.shape)) {
      const set = given.get(name);
      const unset = defaultOf(table, name, data);
      // The options that are not set have their defaults.
      const value = set ? masked(name, LISTS.has(name) ? mergedItems(name, unset, set.value) : set.value) : unset;
      const source = set?.source ?? 'default';
      // Services can have different defaults for a name.
      const key = `${name}=${value}`;
      rows.set(key, { name, value, source, services: [...(rows.get(key)?.services ?? []), each] });
    }
  }
  const sorted = [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  if (json) printJson(stdout, sorted);
  else
    printTable(
      stdout,
      ['setting', 'value', 'source', 'services'],
      sorted.map(({ name, value, source, services: of }) => [name, value, source, of.join(', ')]),
    );
}

const MASK = '[secret]';

/** A value for display: a secret is masked, except for the server and name of a database and what is not a key of upstreams. */
export function masked(name: string, value: string): string {
  if (!SECRETS.has(name)) return withoutLogins(value.trim());
  if (name === 'STRATA_UPSTREAMS') return withoutLogins(withMaskedKeys(value, MASK));
  if (!name.endsWith('DATABASE_URL')) return MASK;
  if (/^sqlite:/.test(value)) return value;
  try {
    const { protocol, host, pathname, username } = new URL(value);
    return `${protocol}//${username === '' ? '' : `${username}:${MASK}@`}${host}${pathname}`;
  } catch {
    return MASK;
  }
}

/** Each URL of a list is read from its scheme on. A user name may be a token. */
const withoutLogins = (value: string): string =>
  value
    .split(/(?=https?:)/i)
    .map((part) => part.replace(/^(https?:[/\\]*)[^/\\?#\s]*@/i, `$1${MASK}@`))
    .join('');

/** The default; of a database, which has none in its schema, the file in the folder `data`. */
function defaultOf(table: SettingTable, name: string, data = ''): string {
  const schema = table.shape[name];
  const file = /^`(sqlite:.+)`$/.exec(String(schema?.meta()?.absent))?.[1];
  return file?.replace('<STRATA_DATA>', () => data) ?? textOf(schema?.safeParse(undefined).data);
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.join(',');
  return Object.entries(value)
    .map(([item, each]) => `${item}=${textOf(each)}`)
    .join(',');
}
