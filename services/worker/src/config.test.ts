import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readWorkerConfig } from './config.ts';
import { VERSION } from './version.ts';

const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), 'utf8');

describe('the settings of a worker', () => {
  it('that are invalid are named', () => {
    const limits = { STRATA_MODEL_SLOTS: '0', STRATA_QUEUE: '-1' };
    for (const [name, value] of Object.entries({ ...limits, STRATA_P2P_ALLOW: 'some', STRATA_LOG_LEVEL: 'loud' }))
      assert.throws(() => readWorkerConfig({ [name]: value }), {
        ...{ name: 'SettingsError', message: new RegExp(`^${name}: `) },
      });
  });
  it('keep the worker’s own files in one folder of the data directory', () => {
    const { directory, peer, models } = readWorkerConfig({ STRATA_DATA: '/data', STRATA_MODEL: ' ' });
    const own = path.join('/data', 'inference', 'worker');
    assert.deepEqual([directory, peer.keyFile, models], [own, path.join(own, 'peer.key'), []]);
  });
  it('have the version of the package', () => {
    assert.equal(VERSION, (JSON.parse(read('../package.json')) as { version: string }).version);
  });
});
