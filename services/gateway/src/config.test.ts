import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { casesOf } from '../../../tests/support/vectors.ts';
import { readGatewayConfig } from './config.ts';
import { startHarness } from './test/harness.ts';
import { sharedGateway } from './test/shared.ts';
import { VERSION } from './version.ts';

const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), 'utf8');

it('the settings that are invalid are named', () => {
  const refused = casesOf<Record<string, string | string[]>>('gateway', 'refused settings');
  for (const [name, values] of Object.entries(refused))
    for (const value of [values].flat()) {
      const item = /^[a-z-]+(?==)/.exec(value)?.[0];
      const refusal = {
        name: 'SettingsError',
        message: new RegExp(`^${name}: ${item && name !== 'STRATA_PIN_MODELS' ? `${item}: ` : ''}`),
      };
      assert.throws(() => readGatewayConfig({ [name]: value }), refusal, value);
    }
  const cache = { STRATA_MODEL_OPTIONS: 'kv-cache=q4_0,flash-attention=off' };
  assert.throws(() => readGatewayConfig(cache), {
    name: 'SettingsError',
    message: /^STRATA_MODEL_OPTIONS: kv-cache: quant/,
  });
});

it('the settings of upstreams name what is wrong, without a key', () => {
  for (const [setting, message] of casesOf<[string | object, string][]>('gateway', 'refused upstreams')) {
    const STRATA_UPSTREAMS = typeof setting === 'string' ? setting : JSON.stringify(setting);
    const refusal = { name: 'SettingsError', message: new RegExp(`^STRATA_UPSTREAMS${message}(?!.*hidden)`) };
    assert.throws(() => readGatewayConfig({ STRATA_UPSTREAMS }), refusal, STRATA_UPSTREAMS);
  }
  const { health, on } = readGatewayConfig({}).upstreams;
  assert.deepEqual([health, on.has('context')], [{ failures: 3, windowMs: 60_000, cooldownMs: 30_000 }, false]);
});

it('the settings enable the network explicitly, or by naming a peer to join', () => {
  for (const off of [{}, { STRATA_NETWORK: 'off', STRATA_JOIN: 'strata1x' }])
    assert.equal(readGatewayConfig(off).network, undefined);
  const { network } = readGatewayConfig({ STRATA_JOIN: 'strata1x, strata1y' });
  assert.deepEqual(network?.peer.join, ['strata1x', 'strata1y']);
  const sha256 = 'aB'.repeat(32);
  const pinned = {
    STRATA_NETWORK: 'on',
    STRATA_PIN_MODELS: `llama3=${sha256}:${sha256},org/model:Q4=${'0'.repeat(64)}`,
  };
  const pins = new Map(Object.entries({ llama3: sha256.toLowerCase(), 'org/model:Q4': '0'.repeat(64) }));
  assert.deepEqual(readGatewayConfig(pinned).network?.pins, pins);
  assert.deepEqual(readGatewayConfig(pinned).network?.trees, new Map([[pins.get('llama3'), pins.get('llama3')]]));
  const twice = { STRATA_PIN_MODELS: `a=${sha256} a=${sha256}` };
  assert.throws(() => readGatewayConfig(twice), /'a' is pinned twice/);
});

it('the settings have these effects', () => {
  for (const [given, expected] of casesOf<[Record<string, string>, object][]>('gateway', 'effects of settings'))
    assert.partialDeepStrictEqual(readGatewayConfig({ STRATA_NETWORK: 'on', ...given }), expected);
});

it('the settings have the version of the package', () =>
  assert.equal(VERSION, (JSON.parse(read('../package.json')) as { version: string }).version));

it('the settings with a port in use are reported', async () => {
  const { port } = (await sharedGateway()).running;
  const refusal = { name: 'StartError', message: new RegExp(`port ${port}: the port is in use`) };
  await assert.rejects(startHarness({ STRATA_INFERENCE_PORT: String(port) }), refusal);
});
