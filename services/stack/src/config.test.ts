import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { ConfigError, Environment, readConfig } from './config.ts';

describe('the configuration', () => {
  it('has a working default for everything', () => {
    const config = readConfig({});
    assert.equal(config.port, 8787);
    assert.equal(config.databaseUrl, 'sqlite:./data/strata.db');
    assert.equal(config.confirmAfterMs, 6 * 3_600_000);
    assert.equal(config.isOnDemand, true);
    assert.equal(readConfig({ STRATA_STACK_PORT: '' }).port, 8787, 'an empty variable is unset');
  });

  it('reads resolvers with and without a port, IPv4 and IPv6, and the mode that begins at the roots', () => {
    const five = { address: '192.0.2.2', port: 5353 };
    for (const [given, resolvers] of [
      ['192.0.2.1, 192.0.2.2:5353', [{ address: '192.0.2.1', port: 53 }, five]],
      ['[2001:db8::1]:54', [{ address: '2001:db8::1', port: 54 }]],
      ['iterative', ['iterative']],
      ['iterative, 192.0.2.2:5353', ['iterative', five]],
    ] as const)
      assert.deepEqual(readConfig({ STRATA_RESOLVERS: given }).resolvers, resolvers);
    assert.throws(() => readConfig({ STRATA_RESOLVERS: '192.0.2.1, iterative' }), /must come first/);
  });

  it('reads networks of both families and refuses what is none, by its value', () => {
    const networks = ['10.1.0.0/16', '192.0.2.1', '2001:db8::/32'];
    assert.deepEqual(readConfig({ STRATA_ALLOW_ADDRESSES: networks.join(',') }).allowAddresses, networks);
    for (const bad of ['10.0.0.0/33', '10.0.0', 'example.com', '::1/129', '10.0.0.0/8/8', '10.0.0.0/']) {
      for (const name of ['STRATA_TRUSTED_PROXIES', 'STRATA_ALLOW_ADDRESSES'])
        assert.throws(() => readConfig({ [name]: `10.0.0.1 ${bad}` }), new RegExp(`${name}.*'${bad}'`));
    }
  });

  it('names every variable that cannot be used', () => {
    assert.throws(
      () => readConfig({ STRATA_STACK_PORT: '99999', STRATA_RESOLVERS: 'nonsense', STRATA_SCAN: 'maybe' }),
      (error) =>
        error instanceof ConfigError &&
        ['STRATA_STACK_PORT', 'STRATA_RESOLVERS', 'STRATA_SCAN'].every((name) => error.message.includes(name)),
    );
  });

  it('says in words what is wrong: of a resolver how it is written, of a number that it is none', () => {
    const refused = (env: Record<string, string>) => {
      try {
        readConfig(env);
      } catch (error) {
        return (error as Error).message;
      }
      return 'taken';
    };
    for (const bad of ['dns.example', '192.0.2.1:99999', 'ITERATIVE'])
      assert.equal(
        refused({ STRATA_RESOLVERS: `192.0.2.1 ${bad}` }),
        `STRATA_RESOLVERS: '${bad}' is no resolver: give iterative, or addresses as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53`,
      );
    assert.equal(refused({ STRATA_STACK_PORT: 'http' }), 'STRATA_STACK_PORT: must be a number');
  });

  it('refuses numbers that are out of range or no plain numbers, and URLs that are none', () => {
    const bad = {
      STRATA_STACK_PORT: '-1',
      STRATA_METRICS_PORT: 'http',
      STRATA_SCAN_CONCURRENCY: '0',
      STRATA_ON_DEMAND_PER_HOUR: '1.5',
      STRATA_RESCAN_HOURS: 'Infinity',
      STRATA_CONTACT_URL: 'javascript:alert(1)',
      STRATA_DATABASE_URL: 'mysql://localhost/strata',
      STRATA_DATABASE_CONNECTIONS: '1',
      STRATA_LEDGER_ORIGIN: 'two words',
      STRATA_LOG_LEVEL: 'loud',
    };
    for (const [name, value] of Object.entries(bad)) {
      assert.throws(
        () => readConfig({ [name]: value }),
        (error) => error instanceof ConfigError && error.message.startsWith(`${name}: `),
        name,
      );
    }
  });

  it('is told in docs/operations.md in full: every variable with its default, and no other', () => {
    const text = readFileSync(path.join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `(STRATA_\w+)` \| (?:`([^`]*)`|([^|]*)) \| (.+) \|$/gm)];
    assert.deepEqual(rows.map(([, name]) => name).sort(), Object.keys(Environment.shape).sort());
    for (const [, name = '', written = ''] of rows) {
      const given = Environment.shape[name as keyof typeof Environment.shape].safeParse(undefined).data;
      if (given === undefined || Array.isArray(given)) continue;
      assert.equal(written, typeof given === 'boolean' ? (given ? 'on' : 'off') : String(given), name);
    }
  });
});
