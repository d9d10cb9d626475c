// The reasons why a gateway cannot join the network, each in one sentence, from errors of a real network node.
import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { openSignedLedger } from '@strata/log';
import { startPeerNode } from '@strata/p2p';
import { pino } from 'pino';
import { temporaryDirectory } from '../../../tests/support/temporary-directory.ts';
import { reportJoined } from './network/discovery.ts';
import { networkStartError } from './start-error.ts';
import { GatewayMembership, type MembershipDeps } from './store/membership.ts';
import { onEach, postgres } from './store/test/backends.ts';
import { startHarness } from './test/harness.ts';
import { freshBed } from './test/network/shared-bed.ts';

const problemOf = async (...listen: readonly string[]): Promise<string> => {
  await using directory = await temporaryDirectory();
  const options = { keyFile: path.join(directory.path, 'key'), listen, isMdnsOn: false };
  const cause = await startPeerNode(options).catch((error: Error) => error);
  assert.ok(cause instanceof Error, 'it started');
  return networkStartError(cause, listen).message;
};

it('a network that cannot be joined names the port in use, and what a second gateway needs', async () => {
  const listen = ((await freshBed()).gateway.addresses()[0] ?? '').replace(/\/p2p\/.*/, '');
  const problem = await problemOf(listen);
  const port = listen.split('/').at(-1);
  assert.match(problem, new RegExp(`^the network cannot be joined: .*:${port} is in use .*STRATA_P2P`));
  assert.match(problem, /a second gateway of this machine also needs STRATA_INFERENCE_PORT and STRATA_DATA/);
  assert.doesNotMatch(problem, /\n|transportManager|node:net/);
});

it('a network that cannot be joined names an address that this machine does not have', async () => {
  const problem = await problemOf('/ip4/192.0.2.1/tcp/1');
  assert.match(problem, /192\.0\.2\.1:1 is not an address of this machine: .*STRATA_P2P$/);
  assert.doesNotMatch(problem, /\n|transportManager|node:net|second gateway/);
});

it('a gateway that waits for another one polls the lock twice a second', async () => {
  const asked: string[] = [];
  const gatewayLock = { tryTake: async () => void asked.push('lock') };
  const gateways = { all: async () => [] };
  const store = { gatewayLock, gateways, isShared: false } as unknown as MembershipDeps['store'];
  const parts = { store, logger: pino({ level: 'silent' }), signal: AbortSignal.timeout(100) };
  await assert.rejects(GatewayMembership.join(parts), { name: 'TimeoutError' });
  assert.deepEqual(asked, ['lock']);
});

it('a gateway has ended after ten reads without a heartbeat, if the reader has written one; the records of a running one, or of its settler, are left alone', async () => {
  let [heartbeat, own] = [0, 0];
  const row = (id: number, settler: number, heartbeat: number) => ({ id, settler, heartbeat });
  const rows = () => [row(1, 1, 3), row(2, 2, heartbeat++), row(3, 2, 5), row(4, 1, 7), row(9, 9, own)];
  const gateways = { all: async () => rows(), add: async () => 9, claim: async () => true, remove: async () => {} };
  const store = { gateways, isShared: true } as unknown as MembershipDeps['store'];
  await using membership = await GatewayMembership.join({ store, logger: pino({ level: 'silent' }) });
  const settled: string[] = [];
  for (let read = 0; read < 31; read += 1) {
    // While the database takes no writes, reads are not counted.
    if (read >= 20) own += 1;
    await membership.settleEnded(async (id) => void settled.push(`${read}: ${id}`));
  }
  assert.deepEqual(settled.slice(0, 2), ['29: 1', '29: 4']);
});

onEach([postgres], 'a gateway without the ledger of an earlier one', (_backend, test) => {
  test('does not start before that ledger has moved to the database, and says how', async (store, url) => {
    await using old = await temporaryDirectory();
    const origin = 'localhost/strata/inference';
    const of = { directory: path.join(old.path, 'inference'), origin, keySetPath: '/keys', now: () => new Date() };
    {
      await using ledger = await openSignedLedger({ ...of, checkpointCopy: store.ledgerCheckpoint(origin) });
      await ledger.log.append(Buffer.from('a'));
    }
    const start = (more: object) => startHarness({ STRATA_MODEL: '', STRATA_INFERENCE_DATABASE_URL: url, ...more });
    await assert.rejects(start({}), { name: 'StartError', message: /STRATA_DATA first, once.*inference\/keys$/ });
    await using first = await start({ STRATA_DATA: old.path });
    assert.equal(first.running.gateway.ledger.log.size, 1);
  });
});

async function logOf(join: readonly string[], reach: (target: string) => Promise<readonly string[]>) {
  const lines: { readonly level: number; readonly msg: string; readonly setting: string }[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  await reportJoined({ peers: { join: reach } }, { join, logger, signal: new AbortController().signal });
  return lines;
}

it('joining the network is logged for each target', async () => {
  const lines = await logOf(['strata1secret', '/ip4/127.0.0.1/tcp/1/p2p/x'], async (target) =>
    target.startsWith('/ip4') ? Promise.reject(new Error('it did not answer')) : ['peer'],
  );
  assert.deepEqual(lines.map(({ level, setting, msg }) => `${level} ${setting}: ${msg}`).sort(), [
    '30 STRATA_JOIN, number 1: joined the network',
    '40 STRATA_JOIN, number 2: no peer was reached; retrying',
  ]);
  assert.doesNotMatch(JSON.stringify(lines), /strata1secret/);
});

it('joining the network is not logged without targets', async () =>
  assert.deepEqual(await logOf([], () => assert.fail()), []));
