// A vocabulary fetched from workers of whom most are silent, refuse, or lie.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fetchVocabulary, mostTrustedFirst } from './fetch-vocabulary.ts';
import { VocabularyError } from './vocabulary-cache.ts';
import { WorkerLostError, type WorkerSession } from './worker-session.ts';

const BYTES = new Uint8Array([1, 2, 3]);
const sha256 = 'a'.repeat(64);
const signal = new AbortController().signal;
type Give = WorkerSession['vocabulary'];

const sessionOf = (peer: string, vocabulary: Give) => ({ peer, vocabulary }) as unknown as WorkerSession;
const gives: Give = async () => BYTES;
const refuses: Give = () => Promise.reject(new WorkerLostError('x', 'unusable'));
const isSilent: Give = (_sha256, stop) =>
  new Promise((_resolve, reject) => stop.addEventListener('abort', () => reject(stop.reason), { once: true }));

describe('a vocabulary is fetched', () => {
  it('from whoever gives it, also after many who refuse', async () => {
    const sessions = [...Array.from({ length: 30 }, (_, i) => sessionOf(`r${i}`, refuses)), sessionOf('honest', gives)];
    assert.equal(await fetchVocabulary({ sha256, sessions, signal, besideMs: 60_000 }), BYTES);
  });

  it('beside those who are silent, who are then left', async () => {
    const stopped: string[] = [];
    const silent = (peer: string) =>
      sessionOf(peer, (digest, stop) => isSilent(digest, stop).finally(() => stopped.push(peer)));
    const sessions = [silent('a'), silent('b'), sessionOf('honest', gives)];
    assert.equal(await fetchVocabulary({ sha256, sessions, signal, besideMs: 5 }), BYTES);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(stopped.sort(), ['a', 'b']);
  });

  it('from nobody where nobody gives it in time, or is there', async () => {
    for (const sessions of [[], [sessionOf('a', refuses)], [sessionOf('a', isSilent)]])
      await assert.rejects(fetchVocabulary({ sha256, sessions, signal, limitMs: 50 }), VocabularyError);
  });

  it('until it is not wanted any more', async () => {
    const reason = new Error('closing');
    const closing = AbortSignal.abort(reason);
    await assert.rejects(fetchVocabulary({ sha256, sessions: [sessionOf('a', isSilent)], signal: closing }), reason);
  });

  it('from the most trusted first, by chance among the others', () => {
    const sessions = ['new', 'trusted', 'other'].map((peer) => sessionOf(peer, gives));
    const draws = [0.9, 0.1, 0.2];
    const order = mostTrustedFirst(sessions, {
      of: (peer) => (peer === 'trusted' ? 1 : 0.5),
      random: () => draws.shift() ?? 0,
    });
    assert.equal(order.map(({ peer }) => peer).join(), 'trusted,other,new');
  });
});
