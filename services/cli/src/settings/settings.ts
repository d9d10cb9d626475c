// Collects settings: from the environment, then the settings file; secrets also from files of their own. Reports all problems at once.

import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nearestName } from '@strata/http/nearest-names';
import { readSmallFile } from '../bounded-input.ts';
import type { CommandContext } from '../context.ts';
import { type Given, mergedItems, moveToLists } from './lists.ts';
import { FIXED, LISTS, MOVED, RETIRED } from './retired.ts';
import {
  COMMAND_SECRETS,
  COMMAND_VARIABLES,
  fileVariableOf,
  keyInFile,
  OWN_PREFIXES,
  SECRETS,
  SERVICES,
  type ServiceName,
  tableOf,
} from './tables.ts';
import { withUpstreamKeys } from './upstream-keys.ts';

/** Values by variable. The tables of the services validate them and have the defaults. */
export type GivenSettings = ReadonlyMap<string, Given>;

type Environment = Readonly<Record<string, string | undefined>>;

const MAX_SECRET_BYTES = 65_536;

/**
 * The settings of `env` and of the file that STRATA_CONFIG names, as plain values; prints the warnings. The table of
 * `service` is loaded first. Rejects with SettingsError for unknown names, files that cannot be read, and secrets that
 * are set twice.
 */
export async function effectiveEnvironment(
  { env, stderr }: Pick<CommandContext, 'env' | 'stderr'>,
  service: ServiceName,
): Promise<Record<string, string>> {
  const { given, problems, warnings } = await findSettings(env, service);
  if (problems.length > 0) throw await settingsError(problems.join('\n'));
  stderr.write(warnings.map((warning) => `strata: warning: ${warning}\n`).join(''));
  return Object.fromEntries([...given].map(([name, { value }]) => [name, value]));
}

/** The same, with the problems and warnings as values. */
export async function findSettings(
  env: Environment,
  service: ServiceName,
): Promise<{
  readonly given: GivenSettings;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}> {
  const warnings: string[] = [];
  const problems: string[] = [];
  const inEnvironment = new Map<string, Given>();
  for (const [name, value] of Object.entries(env))
    if (name.startsWith('STRATA_') && value?.trim()) inEnvironment.set(name, { value, source: 'environment' });
  const config = inEnvironment.get('STRATA_CONFIG')?.value;
  const inFile = config === undefined ? new Map<string, Given>() : await readSettingsFile(config, problems);

  for (const level of [inEnvironment, inFile])
    for (const [name, { source }] of level) {
      const where = source === 'environment' ? '' : ` (${source})`;
      if (Object.hasOwn(FIXED, name)) warnings.push(`${name} can only lower a fixed limit now: ${FIXED[name]}${where}`);
      if (!Object.hasOwn(RETIRED, name)) continue;
      warnings.push(`${name} has no effect any more: ${RETIRED[name]}${where}`);
      level.delete(name);
    }

  const known = await knownNames(service, [...inEnvironment.keys(), ...inFile.keys()]);
  for (const name of inEnvironment.keys())
    if (!known.has(name) && !COMMAND_VARIABLES.includes(name) && !OWN_PREFIXES.some((own) => name.startsWith(own)))
      problems.push(`${name}: unknown setting${suggestion(name, known)}`);
  for (const [name, { source }] of inFile)
    if (!known.has(name))
      problems.push(`${source}: unknown setting '${keyInFile(name)}'${suggestion(name, known, (key) => key)}`);

  const given = new Map<string, Given>();
  for (const level of [inFile, inEnvironment]) {
    const base = level === inFile && config !== undefined ? path.dirname(path.resolve(config)) : '.';
    for (const [name, value] of moveToLists(await withSecretFiles(level, base, problems), warnings)) {
      const earlier = LISTS.has(name) ? given.get(name) : undefined;
      given.set(name, earlier ? merged(name, earlier, value) : value);
    }
  }
  return { given, problems, warnings };
}

const merged = (list: string, earlier: Given, later: Given): Given => ({
  value: mergedItems(list, earlier.value, later.value),
  source: `${earlier.source}, ${later.source}`,
});

async function readSettingsFile(file: string, problems: string[]): Promise<Map<string, Given>> {
  const text = await readSmallFile(file).catch(async (error: Error) => {
    problems.push(`STRATA_CONFIG: ${file} cannot be read: ${error.message}`);
    return '';
  });
  // The parser is loaded only for such a file.
  const { parseSettingsFile } = await import('./settings-file.ts');
  const content = parseSettingsFile(text, new Set([...LISTS].map(keyInFile)));
  problems.push(...content.problems.map((problem) => `${file}: ${problem}`));
  const found = new Map<string, Given>();
  for (const { key, value, line } of content.entries) {
    if (/^[a-z][a-z0-9_]*$/.test(key)) found.set(variableOf(key), { value, source: `${file}:${line}` });
    else {
      const right = keyInFile(key).replaceAll(/[^a-z0-9]+/g, '_');
      problems.push(`${file}:${line}: '${key}': write it in lower case, with _ and without STRATA_: ${right}`);
    }
  }
  return found;
}

const variableOf = (key: string) => `STRATA_${key.toUpperCase()}`;

/** Sets the API keys of commands in `env` from the files that `…_FILE` names. Rejects with SettingsError. */
export async function readCommandSecrets(env: NodeJS.ProcessEnv): Promise<void> {
  for (const secret of COMMAND_SECRETS) {
    const file = env[fileVariableOf(secret)]?.trim();
    if (!file || env[secret]) continue;
    const value = await readSmallFile(file, MAX_SECRET_BYTES).catch(async (error: Error) => {
      throw await settingsError(`${fileVariableOf(secret)}: ${file} cannot be read: ${error.message}`);
    });
    env[secret] = value.trim();
  }
}

/** The known names. The table of `service` comes first, and further ones are loaded only if needed: each takes half a second. */
async function knownNames(service: ServiceName, names: readonly string[]): Promise<ReadonlySet<string>> {
  const known = new Set<string>([...[...SECRETS].map(fileVariableOf), ...MOVED.keys(), ...Object.keys(FIXED)]);
  for (const each of [service, ...SERVICES.filter((other) => other !== service)]) {
    for (const name of Object.keys((await tableOf(each)).shape)) known.add(name);
    if (names.every((name) => known.has(name) || COMMAND_VARIABLES.includes(name))) break;
  }
  return known;
}

/** Without the prefix, which all names share. */
function suggestion(name: string, known: ReadonlySet<string>, write = variableOf): string {
  const near = nearestName(keyInFile(name), [...known].map(keyInFile));
  return near === undefined ? '' : `; did you mean ${write(near)}?`;
}

/** Warnings about secret files that every user of the machine can read. */
export async function openSecrets(given: GivenSettings): Promise<readonly string[]> {
  const found: string[] = [];
  for (const secret of SECRETS) {
    const file = /^file (.+)$/s.exec(given.get(secret)?.source ?? '')?.[1];
    if (file === undefined || process.platform === 'win32') continue;
    const { mode } = await stat(file);
    if ((mode & 0o004) !== 0)
      found.push(
        `${fileVariableOf(secret)}: ${file} is readable by every user of this machine; set its mode to 600 or 640`,
      );
  }
  return found;
}

/** Reads secrets from the files that `…_FILE` names. Paths in the settings file are relative to its folder. */
async function withSecretFiles(
  level: ReadonlyMap<string, Given>,
  base: string,
  problems: string[],
): Promise<ReadonlyMap<string, Given>> {
  const settled = new Map(level);
  for (const secret of SECRETS) {
    const variable = fileVariableOf(secret);
    const named = level.get(variable);
    if (named === undefined) continue;
    settled.delete(variable);
    const doubled = level.get(secret);
    if (doubled !== undefined) {
      problems.push(`${secret}: set twice, in ${doubled.source} and as ${variable} in ${named.source}`);
      continue;
    }
    const file = path.resolve(base, named.value.trim());
    try {
      const value = (await readSmallFile(file, MAX_SECRET_BYTES)).trim();
      if (value === '') problems.push(`${variable}: ${file} is empty`);
      else settled.set(secret, { value, source: `file ${file}` });
    } catch (error) {
      problems.push(`${variable}: ${file} cannot be read: ${(error as Error).message}`);
    }
  }
  const upstreams = settled.get('STRATA_UPSTREAMS');
  if (upstreams) {
    const pathOf = (file: string) => path.resolve(base, file);
    const value = await withUpstreamKeys(upstreams.value, { pathOf, onProblem: (problem) => problems.push(problem) });
    settled.set('STRATA_UPSTREAMS', { ...upstreams, value });
  }
  return settled;
}

/** Loaded only when it is needed: the package is large. */
const settingsError = async (message: string) => new (await import('@strata/http')).SettingsError(message);
