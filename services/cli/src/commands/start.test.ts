// What `strata start` tells each service of the other.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readGatewayConfig } from '@strata/gateway';
import { readConfig } from '@strata/stack';
import { whereBothAre } from './start.ts';

const links = (env: Record<string, string>) => {
  const { stack, inference } = whereBothAre(readConfig(env), readGatewayConfig(env));
  return [stack.chatUrl, inference.explorerUrl];
};

describe('both services', () => {
  it('name each other to readers', () => {
    assert.deepEqual(links({ STRATA_NETWORK: 'on' }), ['http://127.0.0.1:8788', 'http://127.0.0.1:8787']);
    assert.deepEqual(links({ STRATA_NETWORK: 'on', STRATA_HOST: '::1', STRATA_STACK_PORT: '80' }), [
      'http://[::1]:8788',
      'http://[::1]:80',
    ]);
  });

  it('name no chat where nothing is served, and nothing that a reader cannot open', () => {
    assert.equal(links({})[0], undefined);
    assert.deepEqual(links({ STRATA_NETWORK: 'on', STRATA_HOST: '0.0.0.0' }), [undefined, undefined]);
    assert.equal(links({ STRATA_NETWORK: 'on', STRATA_INFERENCE_PORT: '0' })[0], undefined);
  });

  it('name what the settings say', () => {
    const said = { STRATA_CHAT_URL: 'https://chat.example/', STRATA_EXPLORER_URL: 'https://stack.example' };
    assert.deepEqual(links({ ...said, STRATA_HOST: '0.0.0.0' }), ['https://chat.example', 'https://stack.example']);
  });
});
