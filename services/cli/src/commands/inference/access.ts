// `strata inference keys create` with limits, `keys rotate`, `teams` and `prices`, on the database of the gateway.
import {
  amountText,
  type GatewayStore,
  MAX_PRICE,
  type NewGatewayKey,
  PERIODS,
  type Period,
  type Policy,
  spendText,
  TEAM_NAME,
} from '@strata/gateway/store';
import type { CommandContext } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';
import { type OutputOptions, printJson, printTable } from '../../output.ts';
import { requireDatabase } from '../keys/keys.ts';

const DAY_MS = 86_400_000;

export interface AccessDeps {
  readonly open: () => Promise<GatewayStore>;
  readonly databaseUrl: () => Promise<string>;
}

export interface AccessOptions extends OutputOptions {
  readonly models?: string;
  readonly tokensPerDay?: number;
  readonly spendLimit?: string;
  readonly warnAt?: string;
  readonly expires?: string;
  readonly team?: string;
  readonly admin?: boolean;
}

export interface RotateOptions extends OutputOptions {
  /** Hours. */
  readonly overlap: number;
}

export interface PriceOptions {
  readonly input: string;
  readonly output: string;
  readonly cached?: string;
}

/** The fields of a new key. Throws CommandError for invalid options, and for a team that does not exist. */
export async function keyFields(
  options: AccessOptions,
  open: AccessDeps['open'],
): Promise<{ readonly access?: Pick<NewGatewayKey, 'team' | 'policy'> }> {
  const { models, tokensPerDay, spendLimit, expires, team, admin = false } = options;
  const isLimited = [models, tokensPerDay, spendLimit, expires].some((option) => option !== undefined);
  if (admin && (isLimited || team !== undefined)) throw usageError('--admin takes no limits: such a key asks no model');
  if (team !== undefined) {
    await using store = await open();
    if (!(await store.teams.has(team))) throw new CommandError(`no team '${team}'; create it with \`teams set\``);
  }
  const expiresAt = expires === undefined ? null : timeOf(expires);
  const policy = { ...policyOf(options), isAdmin: admin, expiresAt };
  if (!admin && !isLimited && team === undefined) return {};
  return { access: { ...(team === undefined ? {} : { team }), ...(admin || isLimited ? { policy } : {}) } };
}

/** The store, without creating it. */
async function existing({ open, databaseUrl }: AccessDeps): Promise<GatewayStore> {
  requireDatabase(await databaseUrl());
  return open();
}

export async function rotateKeyCommand(
  { stdout, stderr }: CommandContext,
  id: string,
  { overlap, json }: RotateOptions,
  deps: AccessDeps,
): Promise<void> {
  await using store = await existing(deps);
  const rotated = await store.keys.rotate(id, { overlapMs: overlap * 3_600_000 });
  if (!rotated) throw new CommandError(`no active key with the id '${id}'`);
  if (json) printJson(stdout, { id, key: rotated.key, overlap_hours: overlap });
  else {
    stdout.write(`${rotated.key}\n`);
    stderr.write(`${id} has another secret, which is not shown again. The one before is valid for ${overlap} h.\n`);
  }
}

export async function setTeamCommand(
  { stdout }: CommandContext,
  name: string,
  options: AccessOptions,
  { open }: AccessDeps,
): Promise<void> {
  if (!TEAM_NAME.test(name)) throw usageError(`'${name}' is not a name of a team: a-z, 0-9, '.', '_' and '-'`);
  const policy = policyOf(options);
  await using store = await open();
  await store.teams.set(name, policy);
  if (options.json) printJson(stdout, described(name, policy));
  else stdout.write(`${name}: ${limitsText(policy)}\n`);
}

export async function removeTeamCommand(
  { stdout }: CommandContext,
  name: string,
  { revokeKeys = false }: { readonly revokeKeys?: boolean },
  deps: AccessDeps,
): Promise<void> {
  await using store = await existing(deps);
  const removed = await store.teams.remove(name, { revokesKeys: revokeKeys });
  if (!removed) throw new CommandError(`no team '${name}'`);
  const { isRemoved, activeKeys } = removed;
  if (!isRemoved)
    throw new CommandError(`'${name}' has active keys (${activeKeys}): revoke them, or all with --revoke-keys`);
  stdout.write(`${name} is removed; keys revoked: ${activeKeys}\n`);
}

export async function listTeamsCommand(
  { stdout }: CommandContext,
  { json }: OutputOptions,
  deps: AccessDeps,
): Promise<void> {
  await using store = await existing(deps);
  const teams = await store.teams.list();
  if (json)
    printJson(
      stdout,
      teams.map(({ id, ...policy }) => described(id, policy)),
    );
  else
    printTable(
      stdout,
      ['team', 'limits'],
      teams.map(({ id, ...policy }) => [id, limitsText(policy)]),
    );
}

export async function setPriceCommand(
  { stdout }: CommandContext,
  model: string,
  { input, output, cached = input }: PriceOptions,
  { open }: AccessDeps,
): Promise<void> {
  const price = { input: microsOf(input), cached: microsOf(cached), output: microsOf(output) };
  if (Math.max(...Object.values(price)) > MAX_PRICE)
    throw usageError(`a price is at most ${amountText(MAX_PRICE)} for a million tokens`);
  await using store = await open();
  await store.teams.setPrice(model, price);
  stdout.write(`${model}: running gateways use the price within a second\n`);
}

export async function removePriceCommand({ stdout }: CommandContext, model: string, deps: AccessDeps): Promise<void> {
  await using store = await existing(deps);
  if (!(await store.teams.setPrice(model, null))) throw new CommandError(`'${model}' has no price`);
  stdout.write(`${model} has no price\n`);
}

export async function listPricesCommand(
  { stdout }: CommandContext,
  { json }: OutputOptions,
  deps: AccessDeps,
): Promise<void> {
  await using store = await existing(deps);
  const prices = [...(await store.teams.prices())];
  if (json) printJson(stdout, Object.fromEntries(prices));
  else {
    const rows = prices.map(([model, { input, cached, output }]) => [
      model,
      ...[input, cached, output].map(amountText),
    ]);
    printTable(stdout, ['model', 'input', 'cached', 'output'], rows);
  }
}

function policyOf({ models, tokensPerDay, spendLimit, warnAt }: AccessOptions): Policy {
  if (warnAt !== undefined && spendLimit === undefined) throw usageError('--warn-at needs --spend-limit');
  const names = models?.split(',').map((name) => name.trim());
  if (names?.includes('')) throw usageError('--models: names of models, comma-separated');
  return {
    models: names ?? null,
    tokensPerDay: tokensPerDay ?? null,
    spend: spendLimit === undefined ? null : spendOf(spendLimit, warnAt),
  };
}

function spendOf(text: string, warnAt: string | undefined): Policy['spend'] {
  const [amount = '', period = ''] = text.split('/');
  if (!isPeriod(period)) throw usageError(`--spend-limit: an amount and a period, as 25.50/${PERIODS.join(', 2/')}`);
  return { micros: microsOf(amount), period, ...(warnAt === undefined ? {} : { warning: microsOf(warnAt) }) };
}

const isPeriod = (text: string): text is Period => (PERIODS as readonly string[]).includes(text);

/** Millionths of a decimal. */
function microsOf(text: string): number {
  const [, units, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (units === undefined) throw usageError(`'${text}' is not an amount, as 25.50: up to 9 digits and 6 decimals`);
  return Number(units) * 1_000_000 + Number(fraction.padEnd(6, '0'));
}

function timeOf(text: string): number {
  const nowMs = Date.now();
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const time = days === undefined ? writtenTime(text) : nowMs + Number(days) * DAY_MS;
  if (Number.isNaN(time)) throw usageError(`--expires: '${text}' is not a date, a time with its zone, or days as 30d`);
  if (time <= nowMs) throw usageError(`--expires: '${text}' is not in the future`);
  return time;
}

/** A date is valid to its end in UTC. NaN for any other text than a date or a time with its zone. */
function writtenTime(text: string): number {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return Date.parse(text) + DAY_MS - 1;
  return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
}

function described(team: string, { models, tokensPerDay, spend }: Policy) {
  return {
    ...{ team, models, tokens_per_day: tokensPerDay },
    spend_limit: spend,
  };
}

function limitsText({ models, tokensPerDay, spend }: Policy): string {
  const limits = [
    ...(models === null ? [] : [`only ${models.join(', ')}`]),
    ...(tokensPerDay === null ? [] : [`${tokensPerDay} tokens a day`]),
    ...(spend === null ? [] : [`spend ${spendText(spend)}`]),
  ];
  return limits.length === 0 ? 'no limits' : limits.join('; ');
}
