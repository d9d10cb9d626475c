// Why a gateway cannot join the network, told in one sentence, from the errors of a real host.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startPeerNode } from '@strata/p2p';
import { networkStartError } from './start-error.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strata-start-'));
});
after(() => rm(directory, { recursive: true, force: true }));

const start = (name: string, listen: readonly string[], join: readonly string[] = []) =>
  startPeerNode({ keyFile: path.join(directory, name), listen, join, isMdnsOn: false });
async function problemOf(listen: readonly string[], join?: readonly string[]): Promise<string> {
  const started = start('second', listen, join);
  const cause = await started.then(
    () => assert.fail('it started'),
    (error: Error) => error,
  );
  return networkStartError(cause, listen).message;
}

describe('a network that cannot be joined', () => {
  it('names the port that is in use, and what a second gateway needs', async () => {
    await using first = await start('first', ['/ip4/127.0.0.1/tcp/0']);
    const listen = (first.addresses()[0] ?? '').replace(/\/p2p\/.*/, '');
    const problem = await problemOf([listen]);
    assert.match(
      problem,
      new RegExp(`^the network cannot be joined: .*:${listen.split('/').at(-1)} is in use .*STRATA_P2P_LISTEN`),
    );
    assert.match(problem, /a second gateway of this machine also needs STRATA_INFERENCE_PORT and STRATA_DATA/);
    assert.doesNotMatch(problem, /\n|transportManager|node:net/);
  });

  it('names an address that is not of this machine', async () => {
    const problem = await problemOf(['/ip4/192.0.2.1/tcp/1']);
    assert.match(problem, /192\.0\.2\.1:1 is no address of this machine: .*STRATA_P2P_LISTEN$/);
    assert.doesNotMatch(problem, /\n|transportManager|node:net|second gateway/);
  });

  it('says what is wrong with whom it should join', async () => {
    assert.match(
      await problemOf([], ['nobody']),
      /^the network cannot be joined: .*join takes an address with a peer id/,
    );
  });
});
