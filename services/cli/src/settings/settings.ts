// Where each setting comes from: the environment, else the settings file; secrets also from files of their own. Every
// problem is found before any is told.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nearest } from './nearest.ts';
import { parseSettingsFile, readSmallFile } from './settings-file.ts';
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

/** Settings that cannot be used; one line a problem. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export interface Given {
  readonly value: string;
  /** `environment`, `/etc/strata/strata.yaml:3`, or of a secret `file /run/secrets/x`. */
  readonly source: string;
}

/** What was given, by variable; the services' tables judge the values and know the defaults. */
export type GivenSettings = ReadonlyMap<string, Given>;

type Environment = Readonly<Record<string, string | undefined>>;

const MAX_SECRET_BYTES = 65_536;

/**
 * The settings that `env` gives, and the file that its STRATA_CONFIG names; `service` is the one whose names are known
 * without loading the others. Rejects with SettingsError: unknown names, files that cannot be read, secrets given twice.
 */
export async function gatherSettings(env: Environment, service: ServiceName): Promise<GivenSettings> {
  const { given, problems } = await findSettings(env, service);
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  return given;
}

/** The same as plain values, for the readers of the services' tables. */
export async function effectiveEnvironment(env: Environment, service: ServiceName): Promise<Record<string, string>> {
  return Object.fromEntries([...(await gatherSettings(env, service))].map(([name, { value }]) => [name, value]));
}

/** The same with all problems beside what could be read. */
export async function findSettings(
  env: Environment,
  service: ServiceName,
): Promise<{ readonly given: GivenSettings; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const inEnvironment = new Map<string, Given>();
  for (const [name, value] of Object.entries(env))
    if (name.startsWith('STRATA_') && value?.trim()) inEnvironment.set(name, { value, source: 'environment' });
  const config = inEnvironment.get('STRATA_CONFIG')?.value;
  const inFile = config === undefined ? new Map<string, Given>() : await readSettingsFile(config, problems);

  const known = await knownNames(service, [...inEnvironment.keys(), ...inFile.keys()]);
  for (const name of inEnvironment.keys())
    if (!known.has(name) && !COMMAND_VARIABLES.includes(name) && !OWN_PREFIXES.some((own) => name.startsWith(own)))
      problems.push(`${name}: there is no such setting${meant(name, known)}`);
  for (const [name, { source }] of inFile)
    if (!known.has(name))
      problems.push(`${source}: there is no setting '${keyInFile(name)}'${meant(name, known, keyInFile)}`);

  const given = new Map<string, Given>();
  for (const level of [inFile, inEnvironment]) {
    const base = level === inFile && config !== undefined ? path.dirname(path.resolve(config)) : '.';
    for (const [name, value] of await withSecretFiles(level, base, problems)) given.set(name, value);
  }
  return { given, problems };
}

async function readSettingsFile(file: string, problems: string[]): Promise<Map<string, Given>> {
  const text = await readSmallFile(file).catch((error: Error) => {
    problems.push(`STRATA_CONFIG: ${file} cannot be read: ${error.message}`);
    return '';
  });
  const content = parseSettingsFile(text);
  problems.push(...content.problems.map((problem) => `${file}: ${problem}`));
  const found = new Map<string, Given>();
  for (const { key, value, line } of content.entries) {
    if (/^[a-z][a-z0-9_]*$/.test(key)) found.set(variableOf(key), { value, source: `${file}:${line}` });
    else
      problems.push(`${file}:${line}: '${key}': names are written small here, and without STRATA_: ${keyInFile(key)}`);
  }
  return found;
}

const variableOf = (key: string) => `STRATA_${key.toUpperCase()}`;

/** Puts the secrets of commands that ask a service in their places, where `…_FILE` names a file. Rejects with SettingsError. */
export async function takeCommandSecrets(env: NodeJS.ProcessEnv): Promise<void> {
  for (const secret of COMMAND_SECRETS) {
    const file = env[fileVariableOf(secret)]?.trim();
    if (!file || env[secret]) continue;
    const value = await readSmallFile(file, MAX_SECRET_BYTES).catch((error: Error) => {
      throw new SettingsError(`${fileVariableOf(secret)}: ${file} cannot be read: ${error.message}`);
    });
    env[secret] = value.trim();
  }
}

/** Names of every table that is needed to judge these; the service's own comes first, since loading another takes half a second. */
async function knownNames(service: ServiceName, names: readonly string[]): Promise<ReadonlySet<string>> {
  const known = new Set<string>([...SECRETS].map(fileVariableOf));
  for (const each of [service, ...SERVICES.filter((other) => other !== service)]) {
    for (const name of Object.keys((await tableOf(each)).shape)) known.add(name);
    if (names.every((name) => known.has(name) || COMMAND_VARIABLES.includes(name))) break;
  }
  return known;
}

function meant(name: string, known: ReadonlySet<string>, write: (name: string) => string = (same) => same): string {
  const near = nearest(name, known);
  return near === undefined ? '' : `; did you mean ${write(near)}?`;
}

/** Files of secrets that every user of the machine may read, one line each. */
export async function openSecrets(env: Environment, service: ServiceName): Promise<readonly string[]> {
  const { given } = await findSettings(env, service);
  const found: string[] = [];
  for (const secret of SECRETS) {
    const file = /^file (.+)$/s.exec(given.get(secret)?.source ?? '')?.[1];
    if (file === undefined || process.platform === 'win32') continue;
    const { mode } = await stat(file);
    if ((mode & 0o004) !== 0)
      found.push(`${fileVariableOf(secret)}: ${file} may be read by every user of this machine: chmod 600 it, or 640`);
  }
  return found;
}

/** `…_FILE` of a secret in place of its value; paths in the settings file are from where it lies. */
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
      problems.push(`${secret}: given twice, by ${doubled.source} and as ${variable} by ${named.source}`);
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
  return settled;
}
