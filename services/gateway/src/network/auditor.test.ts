// Audits among workers that cheat, lie and are honest.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulatedAnswer } from '@strata/testnet';
import { auditedNetwork, honest, lazy, lying, readAs, standingsMap, trueAnswer } from './test/audited-network.ts';
import type { SeenAnswer } from './trust.ts';

type Network = Awaited<ReturnType<typeof auditedNetwork>>;
type Change = (answer: SeenAnswer) => SeenAnswer;

const HONEST = { ann: honest, ben: honest, cid: honest };

/** Lets a worker answer, one request after the other, until it is quarantined; how many it took. */
async function requestsUntilCaught({ auditor }: Network, change: Change, most = 500): Promise<number> {
  for (let request = 1; request <= most; request += 1) {
    auditor.answered(change(trueAnswer('eve', request)));
    await auditor.settled();
    if (auditor.of('eve') === 0) return request;
  }
  return Number.POSITIVE_INFINITY;
}

async function answerHonestly({ auditor }: Network, peers: readonly string[], count: number): Promise<void> {
  for (let request = 0; request < count; request += 1) {
    for (const [i, peer] of peers.entries()) auditor.answered(trueAnswer(peer, request * 7 + i));
    await auditor.settled();
  }
}

const by =
  (change: Partial<SeenAnswer> | ((answer: SeenAnswer) => Partial<SeenAnswer>)): Change =>
  (answer) =>
    readAs({ ...answer, ...(typeof change === 'function' ? change(answer) : change) });

const cheats: [string, Change][] = [
  [
    'answers by another model',
    by(({ prompt, sampling }) => ({
      answer: simulatedAnswer(prompt, { seed: sampling.seed, count: 40, modelSeed: 2 }),
    })),
  ],
  ['the same answer to everybody', by({ answer: [5, 6, 7, 8] })],
  ['draws by a seed of its own', by(({ prompt }) => ({ answer: simulatedAnswer(prompt, { seed: 3, count: 40 }) }))],
  ['answers that end early', by(({ answer }) => ({ answer: answer.slice(0, 25) }))],
  ['answers cut short as if at their limit', by(({ answer }) => ({ answer: answer.slice(0, 25), reason: 'length' }))],
  ['more tokens than the model gave', by(({ answer }) => ({ answer: [...answer, 9, 9, 9, 9, 9, 9] }))],
  ['text that its tokens do not read as', (answer) => ({ ...answer, text: Buffer.from('buy now') })],
];

describe('a cheat', () => {
  for (const [what, change] of cheats) {
    it(`is caught within 500 requests, once trusted and from the start, and nobody else is: ${what}`, async () => {
      for (const isTrusted of [false, true]) {
        await using network = await auditedNetwork({ workers: { ...HONEST, eve: honest } });
        await answerHonestly(network, isTrusted ? ['ann', 'ben', 'cid', 'eve'] : ['ann', 'ben', 'cid'], 150);
        if (isTrusted) assert.equal(network.auditor.standing('eve').state, 'good');
        const requests = await requestsUntilCaught(network, change);
        assert.ok(requests <= 500);
        if (!isTrusted) assert.ok(requests < 80, `${requests}`);
        for (const peer of ['ann', 'ben', 'cid']) assert.equal(network.auditor.standing(peer).state, 'good');
      }
    });
  }

  it('is judged by its own part of an answer alone', async () => {
    await using network = await auditedNetwork({ workers: { ...HONEST, eve: honest }, share: 1 });
    // The first twenty tokens were made by another one.
    for (let request = 0; request < 20; request += 1) {
      const answer = trueAnswer('eve', request);
      network.auditor.answered(
        readAs({ ...answer, answer: [...answer.answer.slice(0, 20), 77], from: 20, reason: 'cancelled' }),
      );
      network.auditor.answered(readAs({ ...trueAnswer('dan', request), from: 39 }));
    }
    await network.auditor.settled();
    assert.equal(network.auditor.standing('eve').state, 'quarantined');
    assert.equal(network.auditor.standing('dan').state, 'good');
  });

  it('that is proven one at once has no work for a day', async () => {
    await using network = await auditedNetwork({ workers: HONEST });
    network.auditor.breach('eve', 'a forged receipt');
    assert.equal(network.auditor.of('eve'), 0);
    assert.equal(network.auditor.standing('eve').reason, 'a forged receipt');
    network.clock.nowMs += 25 * 3_600_000;
    assert.ok(network.auditor.of('eve') > 0);
  });
});

describe('verifiers', () => {
  it('are our own engine where there is one, and then no worker', async () => {
    await using network = await auditedNetwork({ workers: HONEST, hasOwnEngine: true, share: 1 });
    await answerHonestly(network, ['ann'], 20);
    assert.equal(network.auditor.standing('ann').audits, 20);
    assert.equal(network.asked.length, 0);
    assert.ok((await requestsUntilCaught(network, by({ answer: [5, 6, 7] }))) < 10);
  });

  it('never check themselves', async () => {
    await using network = await auditedNetwork({ workers: HONEST, share: 1 });
    const answers = Array.from({ length: 30 }, (_, request) => trueAnswer('ann', request));
    for (const answer of answers) network.auditor.answered(answer);
    await network.auditor.settled();
    assert.ok(network.asked.length >= 30);
    assert.deepEqual(
      network.asked.filter(({ peer }) => peer === 'ann'),
      [],
    );
  });

  it('that speak against honest workers are found out, and do them no harm', async () => {
    await using network = await auditedNetwork({ workers: { ...HONEST, eve: lying }, share: 0.2 });
    await answerHonestly(network, ['ann', 'ben', 'cid', 'eve'], 300);
    assert.equal(network.auditor.standing('eve').state, 'quarantined');
    assert.equal(network.auditor.standing('eve').reason, 'misjudged answers of others');
    for (const peer of ['ann', 'ben', 'cid']) assert.equal(network.auditor.standing(peer).state, 'good');
  });

  it('that find everything clean are found out by challenges and second looks', async () => {
    await using network = await auditedNetwork({ workers: { ...HONEST, eve: lazy }, share: 0.2 });
    await answerHonestly(network, ['ann', 'ben', 'cid', 'eve'], 600);
    assert.equal(network.auditor.standing('eve').state, 'quarantined');
    for (const peer of ['ann', 'ben', 'cid']) assert.equal(network.auditor.standing(peer).state, 'good');
  });

  it('that give what is no score are held to it, and others are asked', async () => {
    const odd = async () => [0, 0, 0];
    await using network = await auditedNetwork({ workers: { ann: honest, eve: odd }, share: 1 });
    await answerHonestly(network, ['ben'], 40);
    assert.equal(network.auditor.standing('eve').state, 'quarantined');
    assert.equal(network.auditor.standing('ben').audits, 40);
  });

  it('that do not answer are passed over', async () => {
    const silent = (_request: unknown, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await using network = await auditedNetwork({ workers: { ann: honest, eve: silent }, share: 1, timeoutMs: 20 });
    await answerHonestly(network, ['ben'], 10);
    assert.equal(network.auditor.standing('ben').audits, 10);
  });

  it('alone convict nobody: what one says against a worker needs a second one', async () => {
    await using network = await auditedNetwork({ workers: { ann: honest, eve: lying }, share: 1 });
    await answerHonestly(network, ['ann'], 50);
    assert.equal(network.auditor.standing('ann').evidence, 0);
    assert.equal(network.auditor.audits()[0]?.outcome, 'unconfirmed');
  });

  it('are believed when most of them lie together: this cannot be told from the truth', async () => {
    await using network = await auditedNetwork({ workers: { ann: honest, eve: lying, fay: lying }, share: 1 });
    await answerHonestly(network, ['ann'], 10);
    assert.equal(network.auditor.standing('ann').state, 'quarantined');
  });
});

describe('the auditor', () => {
  it('gives up the oldest when too many answers wait', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const slow: typeof honest = async (request, signal) => {
      await opened;
      return honest(request, signal);
    };
    await using network = await auditedNetwork({
      workers: { ann: slow },
      share: 1,
      concurrency: 1,
      mostQueuedTokens: 2_000,
    });
    for (let request = 0; request < 50; request += 1) network.auditor.answered(trueAnswer('ben', request));
    network.auditor.answered({ ...trueAnswer('ben', 60), prompt: Array.from({ length: 3_000 }, () => 1) });
    open();
    await network.auditor.settled();
    const tokens = network.asked.map(({ answer }) => answer.length);
    assert.ok(tokens.length > 3 && tokens.length < 20, `${tokens.length}`);
    assert.deepEqual(
      network.asked.at(-1)?.answer,
      trueAnswer('ben', 49).answer,
      'the newest, but for the one too large',
    );
  });

  it('audits nobody when the share is 0, and still takes proofs', async () => {
    await using network = await auditedNetwork({ workers: HONEST, share: 0 });
    for (let request = 0; request < 50; request += 1) network.auditor.answered(trueAnswer('ben', request));
    await network.auditor.settled();
    assert.equal(network.asked.length, 0);
    network.auditor.breach('ben', 'tokens out of order');
    assert.equal(network.auditor.of('ben'), 0);
  });

  it('knows after a restart what it knew before, and begins anew with what it cannot read', async () => {
    const standings = standingsMap(
      new Map([
        ['dan', '{"state":"good"}'],
        ['fay', 'no JSON'],
      ]),
    );
    {
      await using network = await auditedNetwork({ workers: HONEST, share: 1, standings });
      await answerHonestly(network, ['ann'], 12);
      network.auditor.breach('eve', 'a replayed receipt');
    }
    await using network = await auditedNetwork({ workers: HONEST, standings });
    assert.equal(network.auditor.standing('ann').state, 'good');
    assert.equal(network.auditor.of('eve'), 0);
    for (const peer of ['dan', 'fay']) assert.equal(network.auditor.standing(peer).state, 'new');
  });

  it('ends in the midst of audits without a word', async () => {
    const never: typeof honest = (_request, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const network = await auditedNetwork({ workers: { ann: never, ben: never }, share: 1 });
    for (let request = 0; request < 10; request += 1) network.auditor.answered(trueAnswer('eve', request));
    await network.auditor[Symbol.asyncDispose]();
    assert.deepEqual(network.auditor.audits(), []);
  });
});
