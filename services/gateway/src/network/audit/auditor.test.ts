// Audits and verifiers, with honest and dishonest workers.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  always,
  auditedNetwork,
  HONEST,
  honest,
  MODEL,
  type NetworkOptions,
  reputationsMap,
  type Score,
  silent,
  trueAnswer,
  trueAnswers,
} from '../../test/network/audited-network.ts';
import { loadedMajority } from './audit-panel.ts';

const lying = always(8);
const LIAR = 'good good good quarantined';

it('verifiers are only our own engine if there is one', async () => {
  await using network = await auditedNetwork({ workers: HONEST, hasOwnEngine: true, share: 1 });
  await network.answerHonestly(['ann'], 20);
  assert.deepEqual([network.reputation('ann').audits, network.asked.length], [20, 0]);
  const { level, reason } = network.auditor.verified('ann', MODEL);
  assert.match(`${level}: ${reason}`, /^audited: 20 answers .* this gateway's copy of the file$/);
  assert.ok((await network.requestsUntilCaught((answer) => ({ ...answer, answer: [5, 6, 7] }))) < 10);
});
it('verifiers never check themselves, and get the same request as the worker', async () => {
  await using network = await auditedNetwork({ workers: HONEST, share: 1 });
  const answers = trueAnswers('ann', 30);
  await network.take(...answers);
  assert.ok(network.asked.length >= 30 && network.asked.every(({ peer }) => peer !== 'ann'));
  const [{ prompt, answer, sampling, maxTokens }] = answers as [(typeof answers)[number]];
  const request = { modelSha256: MODEL, prompt, answer, hasEnd: true, maxTokens };
  assert.deepEqual(network.asked[0]?.request, { ...request, sampling: { ...sampling, logitBias: [] } });
});

const workers = (eve: Score) => ({ ...HONEST, eve });
const all = ['ann', 'ben', 'cid', 'eve'];
const alone = (eve: Score) => ({ ann: honest, eve });
const odd = { workers: alone(async () => [0, 0, 0]) };
const late = { workers: alone(silent), timeoutMs: 20 };
const max = { workers: { ...alone(lying), fay: lying } };
/** The verifiers, the number of answers of each worker, and all states afterwards. */
const cases: readonly (readonly [string, NetworkOptions, readonly string[], count: number, states: string])[] = [
  ['that speak against honest workers are found out', { workers: workers(lying), share: 0.2 }, all, 300, LIAR],
  ['that find everything clean are found out', { workers: workers(always(0)), share: 0.2 }, all, 600, LIAR],
  ['whose scores are of another length are found out', odd, ['ben'], 40, 'new good new quarantined'],
  ['that do not answer are passed over', late, ['ben'], 10, 'new good new new'],
  ['convict where most lie together', max, ['ann'], 10, 'quarantined new new new'],
];
for (const [what, options, peers, count, states] of cases)
  it(`verifiers ${what}`, async () => {
    await using network = await auditedNetwork({ share: 1, ...options });
    await network.answerHonestly(peers, count);
    assert.equal(network.states(...all), states);
  });

it('verifiers convict no worker alone: evidence needs a second verifier', async () => {
  await using network = await auditedNetwork({ workers: alone(lying), share: 1 });
  await network.answerHonestly(['ann'], 50);
  assert.equal(network.reputation('ann').evidence, 0);
  assert.equal(network.auditor.audits()[0]?.outcome, 'unconfirmed');
});

it('verifiers load no model if most workers have loaded it; a few that claim so do not become all verifiers', () => {
  const verifiers = (loaded: number, all: number) => loadedMajority([...Array(all).keys()], (n) => n < loaded).length;
  assert.deepEqual([verifiers(3, 5), verifiers(3, 6), verifiers(3, 10), verifiers(2, 2)], [3, 6, 10, 2]);
});

it('the auditor drops the oldest answers when too many wait', async () => {
  const opened = Promise.withResolvers<void>();
  const ann: Score = (request, signal) => opened.promise.then(() => honest(request, signal));
  const bounds = { share: 1, concurrency: 1, maxQueuedTokens: 500 };
  await using network = await auditedNetwork({ workers: { ann }, ...bounds });
  const tooLarge = { ...trueAnswer('ben', 60), prompt: Array.from({ length: 3_000 }, () => 1) };
  const taken = network.take(...trueAnswers('ben', 50), tooLarge);
  opened.resolve();
  await taken;
  const { length, [length - 1]: last } = network.asked;
  assert.ok(length > 3 && length < 20, `${length}`);
  assert.deepEqual(last?.request.answer, trueAnswer('ben', 49).answer, 'the newest, but for the one too large');
});

// Which one, and when: see reputation.test.ts of packages/inference.
it('the auditor audits exactly one of fifty answers of a trusted worker', async () => {
  await using network = await auditedNetwork({ workers: HONEST });
  await network.answerHonestly(['eve'], 60);
  const { state, audits } = network.reputation('eve');
  await network.answerHonestly(['eve'], 500);
  assert.deepEqual([state, network.reputation('eve').audits - audits], ['good', 10]);
});
it('the auditor repays audits for which no worker was available', async () => {
  let isAway = false;
  const ann: Score = async (request, signal) => (isAway ? assert.fail('no slot is free') : honest(request, signal));
  await using network = await auditedNetwork({ workers: { ann } });
  await network.answerHonestly(['eve'], 60);
  const { audits } = network.reputation('eve');
  isAway = true;
  await network.answerHonestly(['eve'], 200);
  assert.deepEqual([network.auditor.audits()[0]?.outcome, network.reputation('eve').audits], ['unverified', audits]);
  isAway = false;
  await network.answerHonestly(['eve'], 500);
  const made = network.reputation('eve').audits - audits;
  assert.ok(made >= 14, `${made} of 700 answers`);
});

it('the auditor restores reputations after a restart, and replaces invalid ones with new ones', async () => {
  const unreadable = { dan: '{"state":"good"}', fay: 'no JSON' };
  const options = { workers: HONEST, share: 1, reputations: reputationsMap(new Map(Object.entries(unreadable))) };
  {
    await using network = await auditedNetwork(options);
    await network.answerHonestly(['ann'], 12);
    network.auditor.breach('eve', 'a replayed receipt');
  }
  await using network = await auditedNetwork(options);
  const facts = [network.states('ann', 'eve', 'dan', 'fay'), network.reputation('eve').reason];
  assert.deepEqual(facts, ['good quarantined new new', 'a replayed receipt']);
  assert.match(network.auditor.verified('ann', MODEL).reason, /^12 answers of the worker scored clean/);
});

it('the auditor adds its findings to those of another gateway, and learns of them', async () => {
  const reputations = reputationsMap();
  const open = () => auditedNetwork({ workers: HONEST, share: 1, reputations });
  await using two = await open();
  {
    await using one = await open();
    one.auditor.breach('eve', 'a replayed receipt');
    await one.answerHonestly(['ann'], 5);
    await two.answerHonestly(['ann'], 7);
    await two.records[Symbol.asyncDispose]();
  }
  await two.records.refresh();
  assert.deepEqual([two.states('eve'), two.reputation('ann').audits], ['quarantined', 12]);
});

it('the auditor stops during audits without a finding', async () => {
  const network = await auditedNetwork({ workers: { ann: silent, ben: silent }, share: 1 });
  for (const answer of trueAnswers('eve', 10)) network.auditor.answered(answer);
  await network[Symbol.asyncDispose]();
  assert.deepEqual(network.auditor.audits(), []);
});
