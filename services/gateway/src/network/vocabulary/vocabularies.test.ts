// Vocabularies: processes that start on demand, files that are always verified, and workers that send them.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, mock } from 'node:test';
import { EngineError } from '@strata/engine';
import { temporaryDirectory, until } from '../../../../../tests/support/index.ts';
import { WorkerLostError } from '../session/session-events.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import { byTrust, fetchVocabulary } from './fetch-vocabulary.ts';
import { Vocabularies, type VocabulariesOptions } from './vocabularies.ts';
import { VocabularyCache, VocabularyError } from './vocabulary-cache.ts';

function scene(options: VocabulariesOptions = {}) {
  const events: string[] = [];
  /** What calls of `tokenize` wait for, and how they fail. */
  const next: { held?: Promise<void> | undefined; failure?: Error | undefined } = {};
  const vocabularies = new Vocabularies(async (file) => {
    events.push(`open ${file}`);
    return {
      async tokenize() {
        await next.held;
        if (next.failure) throw next.failure;
        return [1];
      },
      detokenize: async () => '',
      bytes: async (tokens) => {
        events.push(`bytes ${tokens}`);
        return tokens.map((token) => Uint8Array.of(token));
      },
      render: async () => [1],
      marks: async () => ({ template: '', controls: new Map() }),
      facts: { vocabularySize: 2, longestToken: 1, hasChatTemplate: true },
      [Symbol.asyncDispose]: async () => void events.push(`close ${file}`),
    };
  }, options);
  return { events, next, vocabularies, of: (name: string) => vocabularies.of(name, async () => name) };
}

it('vocabularies are opened once on first use and not after closing, and asked for the text of a token once', async () => {
  const { events, of, vocabularies } = scene();
  const one = of('a');
  assert.deepEqual(events, []);
  const asked = { messages: [], tools: [] };
  await Promise.all([one.tokenize(''), one.render(asked), one.facts(), of('a').detokenize([])]);
  for (const tokens of [[3, 1, 3] as const, [1, 2] as const]) {
    const ids = (await one.bytes(tokens)).map(([n]) => n);
    assert.deepEqual(ids, tokens);
  }
  assert.deepEqual(events.splice(1), ['bytes 3,1', 'bytes 2']);
  await vocabularies[Symbol.asyncDispose]();
  await assert.rejects(of('a').tokenize(''), /closed/);
  await assert.rejects(of('b').facts(), /closed/);
  assert.deepEqual(events, ['open a', 'close a']);
});
it('vocabularies are evicted above the limit, least recently used first', async () => {
  const { events, of, vocabularies } = scene({ max: 2 });
  await using _all = vocabularies;
  for (const name of ['a', 'b', 'a', 'c']) await of(name).tokenize('');
  assert.deepEqual([vocabularies.size, ...events], [2, 'open a', 'open b', 'open c', 'close b']);
  await of('b').tokenize('');
  assert.deepEqual(events.slice(4).sort(), ['close a', 'open b']);
});
it('vocabularies are not closed while in use; excess ones close afterwards', async () => {
  const { events, of, next, vocabularies } = scene({ max: 1 });
  await using _all = vocabularies;
  const { promise, resolve } = Promise.withResolvers<void>();
  next.held = promise;
  const working = [of('a').tokenize(''), of('b').tokenize('')];
  await of('c').render({ messages: [], tools: [] });
  assert.ok(!events.includes('close a') && !events.includes('close b'), events.join());
  resolve();
  await Promise.all(working);
  assert.equal(vocabularies.size, 1);
});

it('vocabularies that failed one call close when the remaining calls have ended', async () => {
  const { events, of, next, vocabularies } = scene();
  await using _all = vocabularies;
  const { promise, resolve } = Promise.withResolvers<void>();
  next.held = promise;
  const beside = of('a').tokenize('');
  await new Promise((resolved) => setImmediate(resolved));
  Object.assign(next, { held: undefined, failure: new EngineError('model-unusable', 'too slow') });
  await assert.rejects(of('a').tokenize(''), /too slow/);
  assert.deepEqual(events, ['open a']);
  next.failure = undefined;
  await of('a').tokenize('');
  assert.deepEqual(events, ['open a', 'open a']);
  resolve();
  await beside;
  assert.deepEqual(events, ['open a', 'open a', 'close a']);
});

it('vocabularies are closed when idle', async () => {
  const { events, of, vocabularies } = scene({ idleMs: 20 });
  await using _all = vocabularies;
  await of('a').tokenize('');
  await until(() => vocabularies.size === 0);
  assert.deepEqual(events, ['open a', 'close a']);
});

it('vocabularies that crashed are reopened by the next call; a rejecting template is not a crash', async () => {
  const { events, of, next, vocabularies } = scene();
  await using _all = vocabularies;
  for (const code of ['crashed', 'template-failed'] as const) {
    next.failure = new EngineError(code, 'it failed');
    await assert.rejects(of('a').tokenize(''), /it failed/);
    next.failure = undefined;
    await of('a').tokenize('');
    assert.deepEqual(events, ['open a', 'close a', 'open a']);
  }
});

const file = (text: string) => {
  const bytes = Buffer.from(text);
  return { bytes, sha256: hash('sha256', bytes) };
};
const never = async (): Promise<Uint8Array> => assert.fail('it was fetched');
const giving = (bytes: Uint8Array) => async () => bytes;

it('vocabulary files are fetched once, even concurrently, and found by the next process', async () => {
  await using directory = await temporaryDirectory();
  const { bytes, sha256 } = file('one');
  const fetch = mock.fn(giving(bytes));
  const cache = new VocabularyCache({ directory: directory.path });
  const [first, second] = await Promise.all([cache.file(sha256, fetch), cache.file(sha256, fetch)]);
  assert.deepEqual([first, await readFile(first)], [second, bytes]);
  await new VocabularyCache({ directory: directory.path }).file(sha256, never);
  assert.deepEqual([fetch.mock.callCount(), await readdir(directory.path)], [1, [`${sha256}.gguf`]]);
});

it('vocabulary files that were modified on disk are fetched again', async () => {
  await using directory = await temporaryDirectory();
  const cache = new VocabularyCache({ directory: directory.path });
  const { bytes, sha256 } = file('right');
  const at = await cache.file(sha256, async () => bytes);
  for (const wrong of ['wrong', 'righ', '']) {
    await writeFile(at, wrong);
    assert.deepEqual([await cache.file(sha256, async () => bytes), await readFile(at)], [at, bytes]);
  }
});

it('vocabulary files with the wrong digest or size are not stored', async () => {
  await using directory = await temporaryDirectory();
  const cache = new VocabularyCache({ directory: directory.path, maxBytes: 10 });
  const [asked, large] = [file('asked for'), file('eleven bytes')];
  const wrong = [{ ...asked, bytes: Buffer.from('something') }, { ...asked, bytes: Buffer.alloc(0) }, large];
  for (const { sha256, bytes } of wrong) await assert.rejects(cache.file(sha256, giving(bytes)), VocabularyError);
  assert.deepEqual(await readdir(directory.path), []);
  await cache.file(asked.sha256, async () => asked.bytes);
});

it('vocabulary files are evicted above the limit, least recently used first, including partial files of a crash', async () => {
  await using directory = await temporaryDirectory();
  const cache = new VocabularyCache({ directory: directory.path, maxFiles: 2 });
  const half = path.join(directory.path, 'left.part');
  const files = ['a', 'b', 'c'].map(file);
  for (const [i, { bytes, sha256 }] of files.entries()) {
    const at = await cache.file(sha256, async () => bytes);
    const usedAt = new Date(1_000_000 * (i + 1));
    if (i < 2) await utimes(at, usedAt, usedAt);
    if (i === 1) {
      // The first one was used again: the second one is now the oldest, except for the partial file.
      await cache.file(files[0]?.sha256 ?? '', never);
      await writeFile(half, 'half');
      await utimes(half, new Date(1_000), new Date(1_000));
    }
  }
  const left = (await readdir(directory.path)).sort();
  assert.deepEqual(left, [files[0], files[2]].map((each) => `${each?.sha256}.gguf`).sort());
});

const BYTES = new Uint8Array([1, 2, 3]);
const SHA256 = 'a'.repeat(64);
const signal = new AbortController().signal;
type Give = WorkerSession['vocabulary'];

const sessionOf = (peer: string, vocabulary: Give) => ({ peer, vocabulary }) as unknown as WorkerSession;
const gives: Give = async () => BYTES;
const refuses: Give = () => Promise.reject(new WorkerLostError('x', 'unusable'));
const isSilent: Give = (_sha256, stop) =>
  new Promise((_resolve, reject) => stop.addEventListener('abort', () => reject(stop.reason)));

describe('a vocabulary is fetched', () => {
  it('from any worker that delivers it, even after many that refuse', async () => {
    const sessions = [...Array.from({ length: 30 }, (_, i) => sessionOf(`r${i}`, refuses)), sessionOf('honest', gives)];
    assert.equal(await fetchVocabulary({ sha256: SHA256, sessions, signal, hedgeMs: 60_000 }), BYTES);
  });

  it('concurrently from further workers if one is silent, which is then cancelled', async () => {
    const stopped: string[] = [];
    const silent = ['a', 'b'].map((peer) =>
      sessionOf(peer, (digest, stop) => isSilent(digest, stop).finally(() => stopped.push(peer))),
    );
    const sessions = [...silent, sessionOf('honest', gives)];
    assert.equal(await fetchVocabulary({ sha256: SHA256, sessions, signal, hedgeMs: 5 }), BYTES);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(stopped.sort(), ['a', 'b']);
  });

  it('fails when no worker provides it in time', async () => {
    for (const sessions of [[], [sessionOf('a', refuses)], [sessionOf('a', isSilent)]])
      await assert.rejects(fetchVocabulary({ sha256: SHA256, sessions, signal, limitMs: 50 }), VocabularyError);
  });

  it('until the request is aborted', async () => {
    const reason = new Error('closing');
    const closing = AbortSignal.abort(reason);
    const sessions = [sessionOf('a', isSilent)];
    await assert.rejects(fetchVocabulary({ sha256: SHA256, sessions, signal: closing }), reason);
  });

  it('from the most trusted workers first, otherwise in random order', () => {
    const sessions = ['new', 'trusted', 'other'].map((peer) => sessionOf(peer, gives));
    const draws = [0.9, 0.1, 0.2];
    const of = (peer: string) => (peer === 'trusted' ? 1 : 0.5);
    const order = byTrust(sessions, { of, random: () => draws.shift() ?? 0 });
    assert.equal(order.map(({ peer }) => peer).join(), 'trusted,other,new');
  });
});
