import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, readConfig } from './config.ts';

describe('the configuration', () => {
  it('has a working default for everything', () => {
    const config = readConfig({});
    assert.equal(config.port, 8787);
    assert.equal(config.databaseUrl, 'sqlite:./data/strata.db');
    assert.equal(config.confirmAfterMs, 6 * 3_600_000);
    assert.equal(config.isOnDemand, true);
  });

  it('reads resolvers with and without a port, IPv4 and IPv6', () => {
    const { resolvers } = readConfig({ STRATA_RESOLVERS: '192.0.2.1, 192.0.2.2:5353 [2001:db8::1]:54' });
    assert.deepEqual(resolvers, [
      { address: '192.0.2.1', port: 53 },
      { address: '192.0.2.2', port: 5353 },
      { address: '2001:db8::1', port: 54 },
    ]);
  });

  it('treats an empty variable as unset', () => {
    assert.equal(readConfig({ STRATA_STACK_PORT: '' }).port, 8787);
  });

  it('names every variable that cannot be used', () => {
    assert.throws(
      () => readConfig({ STRATA_STACK_PORT: '99999', STRATA_RESOLVERS: 'nonsense', STRATA_SCAN: 'maybe' }),
      (error) =>
        error instanceof ConfigError &&
        ['STRATA_STACK_PORT', 'STRATA_RESOLVERS', 'STRATA_SCAN'].every((name) => error.message.includes(name)),
    );
  });
});
