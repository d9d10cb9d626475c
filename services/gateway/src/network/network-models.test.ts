// Models of the network are added, removed and restored; invalid vocabularies are rejected; untrusted workers cannot fill the list or take over names.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Engine, EngineError } from '@strata/engine';
import type { ModelGroup } from '@strata/inference';
import { pino } from 'pino';
import type { Backend } from '../answers/backend.ts';
import { Models } from '../answers/models.ts';
import { openAdmission } from '../limits/admission.ts';
import { offeredModel } from '../test/network/answers.ts';
import { NetworkModels, type NetworkModelsOptions, networkModelInfo } from './network-models.ts';
import type { LazyVocabulary } from './vocabulary/vocabularies.ts';

const digest = (n: number) => n.toString(16).padStart(64, '0');

/** The model with this number and name, offered by these peers. */
function groupOf(n: number, name = 'm', peers: readonly string[] = ['a']): ModelGroup {
  const ids = { sha256: digest(n), vocabularySha256: digest(1_000 + n), name };
  return { ...ids, model: offeredModel(ids), peers, weight: peers.length };
}

const bytewise: LazyVocabulary = {
  facts: async () => ({ vocabularySize: 256, longestToken: 8, hasChatTemplate: true }),
  tokenize: async (text) => [...Buffer.from(text)],
  detokenize: async () => '',
  marks: async () => ({ template: '', controls: new Map() }),
  bytes: async () => [],
  render: async ({ messages }) => [...Buffer.from(String(messages[0]?.content ?? ''))],
};

function scene(options: Partial<NetworkModelsOptions> = {}, own: readonly string[] = []) {
  const admission = openAdmission({ slots: 1, queue: 0 });
  const models = new Models(own.map((id) => ({ id, backend: {} as Backend, created: 0, admission })));
  let groups: readonly ModelGroup[] = [];
  const given = { vocabulary: bytewise };
  const slots = { slots: 2, refreshed: 0, refresh: () => void slots.refreshed++ };
  const opened: string[] = [];
  const named: string[] = [];
  const ended: string[] = [];
  const network: NetworkModels = new NetworkModels(
    { max: 3, pins: new Map(), queue: 1, graceMs: 0, refreshMs: 0, ...options },
    {
      ...{ models, logger: pino({ level: 'silent' }), now: () => new Date(0) },
      groups: () => groups,
      onNames: (names) => void named.push(names.join()),
      vocabularyOf: () => given.vocabulary,
      openModel: (group, _vocabulary, { vocabularySize }) => {
        opened.push(`${group().name} ${vocabularySize}`);
        const engine = { [Symbol.asyncDispose]: async () => void ended.push(group().name) };
        const verified = () => ({ level: 'claimed' as const, reason: 'a test' });
        return { engine: engine as unknown as Engine, fleet: slots, verified };
      },
    },
  );
  return {
    [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
    ...{ models, network, opened, ended, named, slots, given },
    ids: () => models.list().map(({ id }) => id),
    offer: async (...offered: readonly ModelGroup[]) => {
      groups = offered;
      network.refresh();
      // Checking a vocabulary takes a few iterations of the event loop here, and the refresh after it a timer.
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    },
  };
}

const never = new AbortController().signal;

describe('models of the network', () => {
  it('are added with a connected worker, have its slots, and are removed with it', async () => {
    await using world = scene();
    const { offer, ids, models, slots, opened, ended, named } = world;
    await offer(groupOf(1, 'm', ['a', 'b']));
    assert.deepEqual([ids(), opened], [['m'], ['m 256']], 'as their vocabulary says');
    const { admission } = models.get('m');
    assert.equal(admission.slots, 2);
    slots.slots = 6;
    await offer(groupOf(1));
    assert.equal(admission.slots, 6);
    using slot = await admission.enter('key', never);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await offer();
    assert.throws(() => models.get('m'), { kind: 'overloaded' });
    // The answer in progress continues: its engine stays until it ends.
    assert.deepEqual([ids(), admission.size, ended], [[], 1, []]);
    slot[Symbol.dispose]();
    await offer();
    assert.deepEqual(ended, ['m']);
    await offer(groupOf(1));
    assert.deepEqual([ids(), named], [['m'], ['m', 'm']], 'names are stored when they are added');
  });

  const broken: Readonly<Record<string, Partial<LazyVocabulary>>> = {
    'has no token for a text': { tokenize: async () => [] },
    'has one token for every text': { tokenize: async () => [1] },
    'gives tokens that it has not': { tokenize: async (text) => [...Buffer.from(text), 300] },
    'renders tokens that it has not': { render: async () => Array.from({ length: 100 }, () => 5_000_000) },
    'is given by no worker': { tokenize: () => Promise.reject(new Error('no worker gives it')) },
    'cannot be opened': { facts: () => Promise.reject(new EngineError('model-unusable', 'no vocabulary')) },
  };
  for (const [why, vocabulary] of Object.entries(broken))
    it(`are rejected, and not retried immediately, if the vocabulary ${why}`, async () => {
      await using world = scene();
      for (const each of [{ ...bytewise, ...vocabulary }, bytewise]) {
        world.given.vocabulary = each;
        await world.offer(groupOf(1));
      }
      assert.deepEqual(world.ids(), []);
    });

  it('keep their queue and their answers when they are renamed', async () => {
    await using world = scene();
    const { offer, ids, models, opened, ended } = world;
    await offer(groupOf(1, 'old'));
    const { admission } = models.get('old');
    await offer(groupOf(1, 'new'));
    assert.deepEqual([ids(), opened.length, ended], [['new'], 1, []]);
    assert.equal(models.get('new').admission, admission);
  });
  it('are kept for a while without workers, and lose their name only to a model with more workers', async () => {
    await using world = scene({ graceMs: 60_000 });
    const digestOf = (n: number) => ['m', `m@${digest(n).slice(0, 12)}`];
    const strange = groupOf(2, 'm', ['b']);
    for (const [expected, ...offered] of [
      [['m'], groupOf(1)],
      [['m']],
      [digestOf(2), strange],
      [digestOf(2), groupOf(1), strange],
      [digestOf(1), groupOf(1), groupOf(2, 'm', ['b', 'c'])],
    ] as const) {
      await world.offer(...offered);
      assert.deepEqual(world.ids().sort(), expected);
    }
    assert.equal(world.opened.length, 2);
  });
  it('that return during their last answers are the same as before', async () => {
    await using world = scene();
    const { offer, ids, models, opened, ended, slots } = world;
    await offer(groupOf(1));
    const { admission } = models.get('m');
    using _slot = await admission.enter('key', never);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await offer();
    assert.deepEqual([ids(), ended], [[], []]);
    const before = slots.refreshed;
    await offer(groupOf(1, 'm', ['b']));
    assert.deepEqual([ids(), opened.length, slots.refreshed > before], [['m'], 1, true]);
    assert.equal(models.get('m').admission, admission);
  });

  it('that are removed reject waiting requests', async () => {
    await using world = scene();
    world.slots.slots = 1;
    await world.offer(groupOf(1));
    const { admission } = world.models.get('m');
    using _slot = await admission.enter('key', never);
    const waiting = assert.rejects(admission.enter('key', never), { kind: 'overloaded' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await world.offer();
    await waiting;
    assert.equal(admission.size, 1);
  });

  it('are limited in number, except pinned ones', async () => {
    const pinned = groupOf(99, 'wanted');
    await using world = scene({ pins: new Map([['mine', pinned.sha256]]) });
    const { offer, ids, models, network } = world;
    const many = Array.from({ length: 20 }, (_, i) => groupOf(i + 1, `m${i}`));
    for (let round = 0; round < 4; round += 1) await offer(...many, pinned);
    assert.equal(ids().filter((id) => /^m\d/.test(id)).length, 3);
    // One file, under both of its names.
    assert.equal(models.get('mine').admission, models.get('wanted').admission);
    assert.equal(network.list().length, 4);
  });

  it('do not take the names of the gateway’s own models', async () => {
    await using world = scene({}, ['m']);
    await world.offer(groupOf(1));
    assert.deepEqual(world.ids(), ['m', `m@${digest(1).slice(0, 12)}`]);
  });

  it('have the facts of their vocabulary, and a context within the limits of requests', () => {
    const facts = { vocabularySize: 256, longestToken: 8, hasChatTemplate: true };
    const group = groupOf(1);
    const info = { ...group.model, ...facts, slots: 4, contextLength: 4_096 };
    assert.deepEqual(networkModelInfo(group, facts, 4), { ...info, sha256: digest(1) });
    const large = { ...group, model: offeredModel({ contextLength: 100_000_000 }) };
    assert.equal(networkModelInfo(large, facts, 4).contextLength, 1_000_000);
  });
});
