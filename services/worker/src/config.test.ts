import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { temporaryDirectory } from '../../../tests/support/temporary-directory.ts';
import { readWorkerConfig } from './config.ts';
import { VERSION } from './version.ts';

const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), 'utf8');

it('the settings of a worker that are invalid are named', () => {
  const limits = { STRATA_QUEUE: '-1', STRATA_MODEL_OPTIONS: 'kv-cache=f16/q4_0' };
  for (const [name, value] of Object.entries({ ...limits, STRATA_P2P: 'allow=some', STRATA_LOG_LEVEL: 'loud' }))
    assert.throws(() => readWorkerConfig({ [name]: value }), {
      ...{ name: 'SettingsError', message: new RegExp(`^${name}: `) },
    });
});
it('the settings of a worker keep the worker’s own files in one folder of the data directory', () => {
  const { directory, peer } = readWorkerConfig({ STRATA_DATA: '/data' });
  const own = path.join('/data', 'inference', 'worker');
  assert.deepEqual([directory, peer.keyFile], [own, path.join(own, 'peer.key')]);
});
it('the settings of a worker list models; a file whose name has a comma is one', async () => {
  await using folder = await temporaryDirectory();
  const file = path.join(folder.path, 'a,b.gguf');
  const models = (STRATA_MODEL: string) => readWorkerConfig({ STRATA_MODEL }).models;
  assert.deepEqual([models(' '), models('a, b,,a'), models(file).length], [[], ['a', 'b'], 2]);
  writeFileSync(file, '');
  assert.deepEqual(models(file), [file]);
});
it('the settings of a worker have the version of the package', () =>
  assert.equal(VERSION, (JSON.parse(read('../package.json')) as { version: string }).version));
