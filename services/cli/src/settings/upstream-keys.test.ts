// The map of upstreams in the settings file, with keys in files of their own.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { casesOf, temporaryDirectory } from '../../../../tests/support/index.ts';
import { MODEL, startScripted } from '../../../../tests/support/scripted-upstream.ts';
import { checkUpstream } from '../doctor/upstreams.ts';
import { assertEnds, succeed } from '../test/run-strata.ts';
import { findSettings } from './settings.ts';

it('upstreams are a map of the settings file, and their keys come from files and are not printed', async () => {
  await using directory = await temporaryDirectory();
  const STRATA_CONFIG = path.join(directory.path, 'strata.yaml');
  const env = { STRATA_CONFIG };
  await writeFile(STRATA_CONFIG, casesOf<string[]>('cli', 'settings file with upstreams').join('\n'));
  await assertEnds('config check', 1, /^/, { env });
  const { problems } = await findSettings(env, 'gateway');
  assert.match(problems.join(), /^STRATA_UPSTREAMS: servers\.east\.key_file: keys\/east cannot be read: ENOENT/);
  await mkdir(path.join(directory.path, 'keys'));
  await writeFile(path.join(directory.path, 'keys/east'), 'sk-hidden-east\n');
  const { given } = await findSettings(env, 'gateway');
  const { servers } = JSON.parse(given.get('STRATA_UPSTREAMS')?.value ?? '');
  assert.deepEqual([servers.east.key, servers.east.key_file], ['sk-hidden-east', undefined]);
  const { stdout } = await succeed('config print --service gateway', { env });
  assert.match(stdout, /STRATA_UPSTREAMS +\{"servers":\{"east":.*"key":"\[secret\]".*"aliases":\{"chat":/);
  assert.doesNotMatch(stdout, /hidden/);
  await succeed('config check', { env });
});

it('strata doctor reports an upstream that has its models, lacks one, or is away', async () => {
  const server = await startScripted();
  const given = { name: 'east', apiKey: 'sk-hidden', slots: 8, contextLength: undefined, firstTokenMs: undefined };
  const check = (models: string[]) => checkUpstream({ ...given, baseUrl: server.base, models });
  assert.partialDeepStrictEqual(await check([MODEL]), { status: 'ok', found: `other with ${MODEL}` });
  const found = `${server.base} has no model 'x': it has '${MODEL}'`;
  assert.partialDeepStrictEqual(await check([MODEL, 'x']), { check: 'upstream east', status: 'warning', found });
  await server[Symbol.asyncDispose]();
  assert.match((await check([MODEL])).found, /unreachable \(ECONNREFUSED\)/);
});
