// What files of deployment say of our program: is there such a command, is there such a setting, can its value be used.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { problemsOf } from '../../services/cli/src/commands/operations/config.ts';
import { fileVariableOf, SECRETS, type ServiceName, tableOf } from '../../services/cli/src/settings/tables.ts';

export const root = path.join(import.meta.dirname, '../..');

/** Values that a file of a secret may hold. */
const SAMPLES: Readonly<Record<string, string>> = {
  STRATA_DATABASE_URL: 'postgres://strata@db.test/strata',
  STRATA_JOIN: 'strata1sample',
};

/** Which service a command runs. Fails where there is no such command, or it lacks an option. */
export async function serviceOf(args: readonly string[]): Promise<ServiceName> {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const main = path.join(root, 'services/cli/src/main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...words, '--help']);
  assert.ok(stdout.startsWith(`Usage: strata ${words.join(' ')} `), `there is no command ${words.join(' ')}`);
  for (const option of args.filter((arg) => arg.startsWith('-')))
    assert.match(stdout, new RegExp(`^ +${option}\\b`, 'm'), `${words.join(' ')} has no ${option}`);
  const service = { serve: 'stack', gateway: 'gateway', worker: 'worker' }[words[1] ?? ''] as ServiceName | undefined;
  assert.ok(service, words.join(' '));
  return service;
}

/** Fails where a variable is of no service, or cannot be used by the one that is given it. */
export async function assertSettings(service: ServiceName, env: Readonly<Record<string, string>>): Promise<void> {
  const own = await tableOf(service);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('STRATA_')) continue;
    const secret = [...SECRETS].find((each) => fileVariableOf(each) === name);
    if (secret) {
      assert.ok(secret in own.shape, `${service} has no ${secret}`);
      values[secret] = SAMPLES[secret] ?? 'sample';
    } else if (name === 'STRATA_CONFIG') continue;
    else {
      // The image says where to listen to all of them.
      assert.ok(name in own.shape, `${service} has no ${name}`);
      values[name] = value;
    }
  }
  assert.deepEqual(await problemsOf([service], values), []);
}
