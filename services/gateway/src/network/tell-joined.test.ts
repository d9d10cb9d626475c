// What the log says of whom a gateway was told to join: reached or not, and never a token.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { tellJoined } from './tell-joined.ts';

async function toldOf(join: readonly string[], reach: (target: string) => Promise<readonly string[]>) {
  const lines: { readonly level: number; readonly msg: string; readonly setting: string }[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  await tellJoined({ peers: { join: reach } }, { join, logger, signal: new AbortController().signal });
  return lines;
}

describe('joining the network', () => {
  it('is told of each who was named', async () => {
    const lines = await toldOf(['strata1secret', '/ip4/127.0.0.1/tcp/1/p2p/x'], async (target) => {
      if (target.startsWith('/ip4')) throw new Error('it did not answer');
      return ['peer'];
    });
    assert.deepEqual(lines.map(({ level, setting, msg }) => `${level} ${setting}: ${msg}`).sort(), [
      '30 STRATA_JOIN, number 1: joined the network',
      '40 STRATA_JOIN, number 2: nobody was reached there; it is tried again',
    ]);
    assert.doesNotMatch(JSON.stringify(lines), /strata1secret/);
  });

  it('is not told of where nobody was named', async () => {
    assert.deepEqual(await toldOf([], () => assert.fail()), []);
  });
});
