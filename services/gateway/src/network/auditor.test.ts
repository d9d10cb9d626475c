// Audits and verifiers, among workers that lie and are honest.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answerHonestly,
  auditedNetwork,
  by,
  HONEST,
  honest,
  lazy,
  lying,
  requestsUntilCaught,
  standingsMap,
  trueAnswer,
} from '../test/network/audited-network.ts';
import type { SeenAnswer } from './trust.ts';

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

  it('audits exactly one of each fifty answers, and begins only when all fifty are given', async () => {
    await using network = await auditedNetwork({ workers: HONEST });
    await answerHonestly(network, ['eve'], 60);
    assert.equal(network.auditor.standing('eve').state, 'good');
    const { audits } = network.auditor.standing('eve');
    let heard: SeenAnswer[] = [];
    for (let request = 1_000; request < 1_500; request += 1) {
      const [before, answer] = [network.asked.length, trueAnswer('eve', request)];
      heard.push(answer);
      network.auditor.answered(answer);
      await network.auditor.settled();
      const scored = network.asked.slice(before).map(({ answer: tokens }) => tokens.join());
      if (scored.length === 0) continue;
      assert.ok(heard.length <= 50);
      // Challenges are of older answers.
      if (request >= 1_050) assert.equal(heard.filter((each) => scored.includes(each.answer.join())).length, 1);
      heard = [];
    }
    assert.equal(network.auditor.standing('eve').audits - audits, 10);
  });

  it('makes up for audits that nobody was free to make', async () => {
    let isAway = false;
    const ann: typeof honest = (request, signal) =>
      isAway ? Promise.reject(new Error('no slot is free')) : honest(request, signal);
    await using network = await auditedNetwork({ workers: { ann } });
    await answerHonestly(network, ['eve'], 60);
    const { audits } = network.auditor.standing('eve');
    isAway = true;
    await answerHonestly(network, ['eve'], 200);
    assert.equal(network.auditor.audits()[0]?.outcome, 'unverified');
    assert.equal(network.auditor.standing('eve').audits, audits);
    isAway = false;
    await answerHonestly(network, ['eve'], 500);
    const made = network.auditor.standing('eve').audits - audits;
    assert.ok(made >= 14, `${made} of 700 answers`);
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
    assert.equal(network.auditor.standing('eve').reason, 'a replayed receipt');
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
