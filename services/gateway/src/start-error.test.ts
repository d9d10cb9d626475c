// The reasons why a gateway cannot join the network, each in one sentence, from errors of a real network node.
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { startPeerNode } from '@strata/p2p';
import { pino } from 'pino';
import { temporaryDirectory } from '../../../tests/support/temporary-directory.ts';
import { reportJoined } from './network/discovery.ts';
import { networkStartError } from './start-error.ts';
import { GatewayLock, type GatewayLockDeps } from './store/gateway-lock.ts';
import { freshBed } from './test/network/shared-bed.ts';

describe('a network that cannot be joined', () => {
  const problemOf = async (...listen: readonly string[]): Promise<string> => {
    await using directory = await temporaryDirectory();
    const options = { keyFile: path.join(directory.path, 'key'), listen, isMdnsOn: false };
    const cause = await startPeerNode(options).catch((error: Error) => error);
    assert.ok(cause instanceof Error, 'it started');
    return networkStartError(cause, listen).message;
  };

  it('names the port in use, and what a second gateway needs', async () => {
    const listen = ((await freshBed()).gateway.addresses()[0] ?? '').replace(/\/p2p\/.*/, '');
    const problem = await problemOf(listen);
    const port = listen.split('/').at(-1);
    assert.match(problem, new RegExp(`^the network cannot be joined: .*:${port} is in use .*STRATA_P2P_LISTEN`));
    assert.match(problem, /a second gateway of this machine also needs STRATA_INFERENCE_PORT and STRATA_DATA/);
    assert.doesNotMatch(problem, /\n|transportManager|node:net/);
  });

  it('names an address that this machine does not have', async () => {
    const problem = await problemOf('/ip4/192.0.2.1/tcp/1');
    assert.match(problem, /192\.0\.2\.1:1 is not an address of this machine: .*STRATA_P2P_LISTEN$/);
    assert.doesNotMatch(problem, /\n|transportManager|node:net|second gateway/);
  });
});

it('a gateway that waits for another one polls the lock twice a second', async () => {
  const asked: string[] = [];
  const gatewayLock = { tryTake: async () => void asked.push('lock') };
  const store = { gatewayLock, inGatewayTerm: () => assert.fail() } as unknown as GatewayLockDeps['store'];
  const parts = { store, logger: pino({ level: 'silent' }), signal: AbortSignal.timeout(100) };
  await assert.rejects(GatewayLock.take(parts), { name: 'TimeoutError' });
  assert.deepEqual(asked, ['lock']);
});

const held = (term: number, lost: AbortSignal) => ({ term, lost, async [Symbol.asyncDispose]() {} });
for (const [where, isSuperseded, next, ...terms] of [
  ['its own session still holds it', false, undefined, 1, 1],
  ['another gateway holds it', true, undefined, 1, 2],
  ['it is free', false, held(2, new AbortController().signal), 1],
  ['another gateway has held it', true, held(3, new AbortController().signal), 1],
  ['another gateway began earlier', true, undefined, 2],
] as const)
  it(`a gateway that has lost its lock ${isSuperseded ? 'stops' : 'continues'} where ${where}`, async () => {
    const [holds, lastTerms] = [[held(1, AbortSignal.abort()), next], [...terms]];
    const gatewayLock = { tryTake: async () => holds.shift(), lastTerm: async () => lastTerms.shift() };
    const store = { gatewayLock, inGatewayTerm: () => ({}) } as unknown as GatewayLockDeps['store'];
    const lock = await GatewayLock.take({ store, logger: pino({ level: 'silent' }) });
    await lock[Symbol.asyncDispose]();
    assert.deepEqual([lock.superseded.aborted, lastTerms], [isSuperseded, []]);
  });

async function logOf(join: readonly string[], reach: (target: string) => Promise<readonly string[]>) {
  const lines: { readonly level: number; readonly msg: string; readonly setting: string }[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  await reportJoined({ peers: { join: reach } }, { join, logger, signal: new AbortController().signal });
  return lines;
}

describe('joining the network', () => {
  it('is logged for each target', async () => {
    const lines = await logOf(['strata1secret', '/ip4/127.0.0.1/tcp/1/p2p/x'], async (target) =>
      target.startsWith('/ip4') ? Promise.reject(new Error('it did not answer')) : ['peer'],
    );
    assert.deepEqual(lines.map(({ level, setting, msg }) => `${level} ${setting}: ${msg}`).sort(), [
      '30 STRATA_JOIN, number 1: joined the network',
      '40 STRATA_JOIN, number 2: no peer was reached; retrying',
    ]);
    assert.doesNotMatch(JSON.stringify(lines), /strata1secret/);
  });

  it('is not logged without targets', async () => assert.deepEqual(await logOf([], () => assert.fail()), []));
});
