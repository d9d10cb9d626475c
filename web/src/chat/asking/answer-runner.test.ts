// Answers written into conversations: in order, out of order, stopped, failed, and shared with other tabs.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type AnswerEvent, type AnswerOptions, type ChatRequest, InferenceProblem, type Receipt } from '@strata/client';
import { figuresOf } from '../answer/answer-figures.ts';
import { type Answer, newConversation, pathOf, versionsOf, withTurn } from '../conversation/conversation.ts';
import { answer, MemoryStorage, question } from '../conversation/test/conversations.ts';
import { AnswerRunner, rewoundBefore } from './answer-runner.ts';

const begunWith = (receiptId: string | null): AnswerEvent => {
  return { kind: 'begun', receiptId, salt: 'f0', requestId: 'r', requestSha256: 'abc' };
};
const text = (piece: string): AnswerEvent => ({ kind: 'text', text: piece });
const usage: AnswerEvent = { kind: 'usage', usage: { promptTokens: 4, completionTokens: 9, reasoningTokens: 2 } };
const receiptOf = (worker: string) =>
  ({
    segments: [{ choice: 0, worker, nonce: 'n', from: 0, to: 2, chain_head_hmac_sha256: 'h' }],
    usage: { prompt_tokens: 4, cached_tokens: 0, completion_tokens: 7 },
  }) as unknown as Receipt;

type Answers = (request: ChatRequest, options: AnswerOptions) => AsyncGenerator<AnswerEvent>;

/** A tab with one question, whose service answers with the given events. */
function tabWith(answer: Answers, receipt: (id: string) => Promise<Receipt> = async () => receiptOf('w')) {
  const storage = new MemoryStorage();
  const store = storage.open(1);
  store.add({ ...withTurn(newConversation({}, 'Hi', 1), question('q1', null, 1, 'Hi'), 1), id: 'c' });
  let at = 100;
  const client = { answer, receipt: async (id: string) => ({ body: await receipt(id), text: '' }) } as never;
  const runner = new AnswerRunner({ store, client, now: () => (at += 1), sleep: async () => {} });
  const path = () => pathOf(store.find('c') ?? newConversation({}, '', 0));
  const last = () => path().at(-1) as Answer;
  const ask = async () => {
    await runner.run('c', 'm');
    return last();
  };
  /** Exchanges the state of all tabs; this tab then applies stops requested in other tabs. */
  const exchange = () => {
    storage.settle();
    runner.heartbeat();
  };
  /** Another tab of the same conversation. */
  const otherTab = (nowMs: number) => {
    const other = storage.open(1);
    storage.settle();
    const remote = new AnswerRunner({ store: other, client: {} as never, now: () => nowMs, sleep: async () => {} });
    return { other, remote };
  };
  return { storage, store, runner, path, last, ask, exchange, otherTab };
}

const completeAnswerEvents = async function* (): AsyncGenerator<AnswerEvent> {
  yield* [begunWith('rwr_1'), text('Half'), text(' and half'), { kind: 'finished', reason: 'stop' } as const, usage];
  yield { kind: 'whole', record: null };
};

it('an answer is written as it arrives, with the token counts of the service and the workers', async () => {
  const { ask, path } = tabWith(completeAnswerEvents);
  const expected = { state: 'whole', text: 'Half and half', finishReason: 'stop', problem: null, tokens: 9 };
  const ids = { reasoningTokens: 2, receiptId: 'rwr_1', salt: 'f0', requestSha256: 'abc' };
  assert.partialDeepStrictEqual(await ask(), { ...expected, ...ids, segments: [{ worker: 'w', from: 0, to: 2 }] });
  assert.equal(path().length, 2);
});

it('an answer that is requested again is kept as a version, even if the new one fails immediately', async () => {
  let isDown = false;
  const { ask, store, last, path } = tabWith(async function* () {
    if (isDown) throw new InferenceProblem({ status: 0, code: 'network', type: 'network', message: 'Offline.' });
    yield* completeAnswerEvents();
  });
  const first = await ask();
  isDown = true;
  store.change('c', (one) => rewoundBefore(one, first, 50));
  await ask();
  assert.deepEqual([last().state, last().problem?.code, last().text], ['broken', 'network', '']);
  const versions = versionsOf(store.find('c') ?? assert.fail(), last());
  assert.deepEqual([versions.map((version) => version.text).join('|'), path().length], ['Half and half|', 2]);
});

it('an answer gets its own receipt, even if that arrives late', async () => {
  const late = Promise.withResolvers<Receipt>();
  let asks = 0;
  const { runner, store, last, path } = tabWith(
    async function* () {
      asks += 1;
      yield* [begunWith(`rwr_${asks}`), text(`Answer ${asks}`)];
      yield { kind: 'whole', record: null };
    },
    (id) => (id === 'rwr_1' ? late.promise : Promise.resolve(receiptOf('second worker'))),
  );
  const first = runner.run('c', 'm');
  // The answer is complete; its receipt has not arrived yet.
  while (last().role !== 'assistant' || last().state === 'running') await new Promise((soon) => setImmediate(soon));
  store.change('c', (one) => withTurn(one, question('q2', last().id, 60, 'And?'), 60));
  await runner.run('c', 'm');
  assert.deepEqual([last().text, last().segments?.[0]?.worker], ['Answer 2', 'second worker']);
  late.resolve(receiptOf('first worker'));
  await first;
  const [, one, , two] = path() as Answer[];
  assert.deepEqual([one?.text, one?.segments?.[0]?.worker], ['Answer 1', 'first worker']);
  assert.deepEqual([two?.text, two?.segments?.[0]?.worker], ['Answer 2', 'second worker']);
});

it('an answer that is stopped keeps the received text and takes its token count from the receipt', async () => {
  const { runner, ask } = tabWith(async function* (_request, { signal }) {
    yield* [begunWith('rwr_1'), text('Half')];
    runner.stop('c');
    signal?.throwIfAborted();
    yield text(' too much');
  });
  assert.partialDeepStrictEqual(await ask(), { state: 'stopped', text: 'Half', tokens: 7, problem: null });
});

it('an answer is stopped from another tab, also by deleting its conversation there', async () => {
  for (const end of ['stop', 'delete'] as const) {
    let isAborted = false;
    const tab = tabWith(async function* (_request, { signal }) {
      yield* [begunWith(null), text('Half')];
      tab.runner.heartbeat();
      tab.storage.settle();
      if (end === 'stop') remote.stop('c');
      else other.remove(['c']);
      tab.exchange();
      isAborted = signal?.aborted ?? false;
      signal?.throwIfAborted();
      yield text(' too much');
    });
    const { other, remote } = tab.otherTab(1_000);
    await tab.runner.run('c', 'm');
    assert.equal(isAborted, true, end);
    if (end === 'stop') assert.deepEqual([tab.last().state, tab.last().text], ['stopped', 'Half']);
    else assert.equal(tab.store.find('c'), undefined);
  }
});

it('an answer that does not end is stopped at the maximum length', async () => {
  let isStopped = false;
  const { ask } = tabWith(async function* () {
    yield begunWith(null);
    try {
      for (;;) yield text('x'.repeat(500_000));
    } finally {
      isStopped = true;
    }
  });
  const { state, problem, text: all } = await ask();
  assert.deepEqual([state, problem?.code, all.length, isStopped], ['broken', 'answer_too_long', 2_500_000, true]);
});

it('an answer that is stopped from another tab stays stopped, although text arrived before the stop', async () => {
  const tab = tabWith(async function* (_request, { signal }) {
    yield* [begunWith(null), text('Half')];
    tab.runner.heartbeat();
    tab.storage.settle();
    remote.stop('c');
    yield text(' and');
    // Later than the stop, and written before the stop is received.
    tab.runner.heartbeat();
    tab.store.write();
    tab.exchange();
    signal?.throwIfAborted();
    yield text(' too much');
  });
  const { other, remote } = tab.otherTab(103);
  await tab.runner.run('c', 'm');
  tab.storage.settle();
  for (const store of [tab.store, other, tab.storage.open(9)]) {
    const shown = store.find('c')?.turns.find(({ role }) => role === 'assistant') as Answer;
    assert.deepEqual([shown.state, shown.text], ['stopped', 'Half and']);
  }
});

it('an answer is saved up to the received text when the page is closed', async () => {
  const closed = Promise.withResolvers<void>();
  const { runner, storage } = tabWith(async function* () {
    yield* [begunWith(null), text('Half')];
    runner.stopAll();
    await closed.promise;
  });
  const answered = runner.run('c', 'm');
  await new Promise((soon) => setImmediate(soon));
  const [, kept] = storage.open(5).find('c')?.turns ?? [];
  assert.ok(kept?.role === 'assistant');
  assert.deepEqual([kept.text, kept.state], ['Half', 'stopped']);
  closed.resolve();
  await answered;
});

it('an answer that is refused has the message of the service and the time to retry', async () => {
  const limit = { status: 429, code: 'rate_limit_exceeded', type: 'x', message: 'Used up.', requestId: 'r' };
  const failed = { code: 'failed', requestId: null, isLater: false };
  const long = { status: 500, code: null, type: 'x', message: 'x'.repeat(5_000) };
  const used = { code: 'rate_limit_exceeded', message: 'Used up.', requestId: 'r', isLater: true };
  for (const [error, problem] of [
    [new InferenceProblem({ ...limit, retryAfterSeconds: 30 }), used],
    [new InferenceProblem(long), { ...failed, message: 'x'.repeat(1_000) }],
    [new Error('a secret'), { ...failed, message: 'The answer could not be read.' }],
  ] as const) {
    // biome-ignore lint/correctness/useYield: it throws before the first event
    const { ask } = tabWith(async function* () {
      throw error;
    });
    const { code, message, requestId, retryAt } = (await ask()).problem ?? assert.fail('no problem');
    assert.deepEqual({ code, message, requestId, isLater: (retryAt ?? 0) > 30_000 }, problem);
  }
});

it('an answer is requested only if the last turn is a question', async () => {
  let asks = 0;
  const { runner } = tabWith(async function* () {
    asks += 1;
    yield* completeAnswerEvents();
  });
  await Promise.all([runner.run('c', 'm'), runner.run('c', 'm'), runner.run('none', 'm')]);
  assert.equal(asks, 1);
});

const completeAnswer = answer('a', 'q', 1);

it('the figures of an answer are tokens, speed, time to first token and workers', () => {
  const workers = ['12D3KooWaaaaaaAAAAAA', '12D3KooWbbbbbbBBBBBB'];
  const segments = workers.map((worker, i) => ({ worker, from: i, to: i + 1 }));
  assert.deepEqual(figuresOf({ ...completeAnswer, segments }), [
    ...['m', '11 tokens', '100 tokens/s', 'first token after 10 ms', 'by workers …AAAAAA, then …BBBBBB'],
  ]);
});

it('the figures of an answer count reasoning separately and exclude it from the speed', () => {
  const figures = figuresOf({ ...completeAnswer, tokens: 111, reasoningTokens: 100 });
  assert.deepEqual(figures.slice(1, 4), ['111 tokens', '100 reasoning', '100 tokens/s']);
});

it('the figures of an answer are shown as unknown, never as zero', () => {
  const unknown = { ...completeAnswer, tokens: null, firstTokenMs: null, writingMs: null, segments: [] };
  assert.deepEqual(figuresOf(unknown), ['m', 'token count unknown', 'speed unknown']);
  assert.deepEqual(figuresOf({ ...completeAnswer, tokens: 1 }).slice(1, 3), ['1 token', 'speed unknown']);
  assert.equal(figuresOf({ ...completeAnswer, state: 'stopped' })[2], 'speed unknown');
  assert.equal(figuresOf({ ...completeAnswer, writingMs: 0 })[2], 'speed unknown');
});
