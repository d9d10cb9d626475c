// Models of the network come, go and come back; a lying vocabulary is found out; strangers cannot fill the list or take names.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Engine, EngineError } from '@strata/engine';
import { type ModelGroup, modelGroups, type OfferedModel } from '@strata/inference';
import { pino } from 'pino';
import { Admission } from '../admission.ts';
import type { Backend } from '../backend.ts';
import { Models } from '../models.ts';
import { networkModelInfo } from './network-model-info.ts';
import { NetworkModels, type NetworkModelsOptions } from './network-models.ts';
import type { LazyVocabulary } from './vocabularies.ts';

const digest = (n: number) => n.toString(16).padStart(64, '0');

function groupOf(n: number, name: string, peers: readonly string[]): ModelGroup {
  const sha256 = digest(n);
  const vocabularySha256 = digest(1_000 + n);
  const model = {
    name,
    architecture: 'a',
    quantisation: 'F16',
    sizeBytes: 1,
    parameters: 1,
    engine: 'e',
    contextLength: 512,
  };
  return { sha256, vocabularySha256, name, model, peers, weight: peers.length };
}

/** One token for each byte. */
const bytewise: LazyVocabulary = {
  facts: async () => ({ vocabularySize: 256, longestToken: 8, hasChatTemplate: true }),
  tokenize: async (text) => [...Buffer.from(text)],
  detokenize: async () => '',
  render: async ({ messages }) => [...Buffer.from(String(messages[0]?.content ?? ''))],
};

function scene(options: Partial<NetworkModelsOptions> = {}, own: readonly string[] = []) {
  const admission = new Admission({ places: 1, queue: 0 });
  const models = new Models(own.map((id) => ({ id, backend: {} as Backend, created: 0, admission })));
  let groups: readonly ModelGroup[] = [];
  let vocabulary = bytewise;
  const slots = { slots: 2, refreshed: 0, refresh: () => void slots.refreshed++ };
  const opened: string[] = [];
  const ended: string[] = [];
  const network: NetworkModels = new NetworkModels(
    { most: 3, pins: new Map(), queue: 1, graceMs: 0, ...options },
    {
      ...{ models, logger: pino({ level: 'silent' }), now: () => new Date(0) },
      groups: () => groups,
      vocabularyOf: () => vocabulary,
      onOpened: () => network.refresh(),
      openModel: (group, _vocabulary, { vocabularySize }) => {
        opened.push(`${group().name} ${vocabularySize}`);
        const engine = { [Symbol.asyncDispose]: async () => void ended.push(group().name) };
        return { engine: engine as unknown as Engine, fleet: slots };
      },
    },
  );
  return {
    [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
    ...{ models, network, opened, ended, slots },
    ids: () => models.list().map(({ id }) => id),
    speak: (other: LazyVocabulary) => {
      vocabulary = other;
    },
    offer: async (...offered: readonly ModelGroup[]) => {
      groups = offered;
      network.refresh();
      // Trying a vocabulary takes a few turns here, and no time.
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('models of the network', () => {
  it('come when a connected worker has them, have its places, and go with it', async () => {
    await using world = scene();
    const { offer, ids, models, slots, ended } = world;
    await offer(groupOf(1, 'm', ['a']));
    assert.deepEqual(ids(), ['m']);
    assert.equal(models.get('m').admission.places, 2);
    slots.slots = 6;
    await offer(groupOf(1, 'm', ['a', 'b']));
    assert.equal(models.get('m').admission.places, 6);
    using place = await models.get('m').admission.enter('key', new AbortController().signal);
    const { admission } = models.get('m');
    await new Promise((resolve) => setTimeout(resolve, 5));
    await offer();
    assert.deepEqual(ids(), []);
    assert.throws(() => models.get('m'), { kind: 'overloaded' });
    // The answer under way is not cut off: its engine lives as long as it.
    assert.deepEqual([admission.size, ended.length], [1, 0]);
    place[Symbol.dispose]();
    await offer();
    assert.deepEqual(ended, ['m']);
    await offer(groupOf(1, 'm', ['a']));
    assert.deepEqual(ids(), ['m']);
  });

  it('stay for a while without a worker: one that restarts finds them there', async () => {
    await using world = scene({ graceMs: 60_000 });
    const { offer, ids } = world;
    await offer(groupOf(1, 'm', ['a']));
    await offer();
    assert.deepEqual(ids(), ['m']);
  });

  it('are read by what the vocabulary says of itself, whatever anybody says', async () => {
    await using world = scene();
    const { offer, opened } = world;
    await offer(groupOf(1, 'm', ['a', 'liar', 'liar-2']));
    assert.deepEqual(opened, ['m 256']);
  });

  it('whose vocabulary cannot be one are refused, and so are those whose vocabulary nobody gives', async () => {
    for (const broken of [
      { tokenize: async () => [1] },
      { tokenize: async () => [] },
      { tokenize: async (text: string) => [...Buffer.from(text), 300] },
      { render: async () => Array.from({ length: 100 }, () => 5_000_000) },
      { tokenize: () => Promise.reject(new Error('no worker gives it')) },
      { facts: () => Promise.reject(new EngineError('model-unusable', 'no vocabulary')) },
    ]) {
      await using world = scene();
      const { offer, ids, speak } = world;
      speak({ ...bytewise, ...broken });
      await offer(groupOf(1, 'm', ['a', 'b']));
      speak(bytewise);
      await offer(groupOf(1, 'm', ['a', 'b']));
      assert.deepEqual(ids(), []);
    }
  });

  it('that are called otherwise from now on stay what they are, with their line and their answers', async () => {
    await using world = scene();
    const { offer, ids, models, opened, ended } = world;
    await offer(groupOf(1, 'old', ['a']));
    const { admission } = models.get('old');
    await offer(groupOf(1, 'new', ['a']));
    assert.deepEqual(ids(), ['new']);
    assert.equal(models.get('new').admission, admission);
    assert.deepEqual([opened.length, ended.length], [1, 0]);
  });

  it('whose name another one takes go on as their digest; one that is away keeps its name from strangers', async () => {
    await using world = scene({ graceMs: 60_000 });
    const { offer, ids, opened } = world;
    await offer(groupOf(1, 'm', ['a']));
    const strange = groupOf(2, 'm', ['b']);
    await offer(strange);
    assert.deepEqual(ids().sort(), ['m', `m@${digest(2).slice(0, 12)}`]);
    await offer(groupOf(1, 'm', ['a']), strange);
    assert.deepEqual(ids().sort(), ['m', `m@${digest(2).slice(0, 12)}`]);
    await offer(groupOf(1, 'm', ['a']), groupOf(2, 'm', ['b', 'c']));
    assert.deepEqual(ids().sort(), ['m', `m@${digest(1).slice(0, 12)}`]);
    assert.equal(opened.length, 2);
  });

  it('that come back while their last answers are under way are the same as before', async () => {
    await using world = scene();
    const { offer, ids, models, opened, ended, slots } = world;
    await offer(groupOf(1, 'm', ['a']));
    const { admission } = models.get('m');
    using _place = await admission.enter('key', new AbortController().signal);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await offer();
    assert.deepEqual([ids(), ended], [[], []]);
    const before = slots.refreshed;
    await offer(groupOf(1, 'm', ['b']));
    assert.deepEqual([ids(), opened.length], [['m'], 1]);
    assert.equal(models.get('m').admission, admission);
    assert.ok(slots.refreshed > before);
  });

  it('that go send those away who wait', async () => {
    await using world = scene();
    const { offer, models, slots } = world;
    slots.slots = 1;
    await offer(groupOf(1, 'm', ['a']));
    const { admission } = models.get('m');
    using _place = await admission.enter('key', new AbortController().signal);
    const waiting = assert.rejects(admission.enter('key', new AbortController().signal), { kind: 'overloaded' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await offer();
    await waiting;
    assert.equal(admission.size, 1);
  });

  it('are so many at most; those that the operator pinned come besides', async () => {
    const pinned = groupOf(99, 'wanted', ['a']);
    await using world = scene({ pins: new Map([['mine', pinned.sha256]]) });
    const { offer, ids, models } = world;
    const many = Array.from({ length: 20 }, (_, i) => groupOf(i + 1, `m${i}`, ['a']));
    for (let round = 0; round < 4; round += 1) await offer(...many, pinned);
    assert.equal(ids().filter((id) => /^m\d/.test(id)).length, 3);
    // One file, by both of its names.
    assert.equal(models.get('mine').admission, models.get('wanted').admission);
    assert.equal(world.network.list().length, 4);
  });

  it("leave names of the gateway's own models alone", async () => {
    await using world = scene({}, ['m']);
    const { offer, ids } = world;
    await offer(groupOf(1, 'm', ['a']));
    assert.deepEqual(ids(), ['m', `m@${digest(1).slice(0, 12)}`]);
  });
});

const offered = (given: Partial<OfferedModel> = {}): OfferedModel => ({
  ...{ name: 'm', sha256: 'a'.repeat(64), vocabularySha256: 'b'.repeat(64), templateSha256: 'c'.repeat(64) },
  ...{ architecture: 'llama', quantisation: 'F16', sizeBytes: 1, parameters: 1, contextLength: 4_096 },
  ...{ vocabularySize: 32_000, longestToken: 16, slots: 2, prefillTokensPerSecond: 1, decodeTokensPerSecond: 1 },
  ...{ engine: 'e', ...given },
});
const facts = { vocabularySize: 32_000, longestToken: 16, hasChatTemplate: true };
const infoOf = (offers: Readonly<Record<string, OfferedModel>>) => {
  const workers = Object.entries(offers).map(([peer, model]) => ({ peer, offer: { models: [model] } }));
  const [group] = modelGroups(workers, { weigh: () => 0.5 });
  return group && networkModelInfo(group, facts, 4);
};

describe('a model of the network', () => {
  it('is what its file says, however many workers say otherwise', () => {
    const lie = offered({ vocabularySize: 1, longestToken: 1, contextLength: 1, templateSha256: 'd'.repeat(64) });
    const info = infoOf({ liar: lie, honest: offered(), another: lie, third: lie });
    assert.deepEqual(info, { ...infoOf({ honest: offered() }) });
    assert.deepEqual([info?.vocabularySize, info?.longestToken, info?.contextLength], [32_000, 16, 4_096]);
  });

  it('has no larger a context than can be asked for', () => {
    assert.equal(infoOf({ large: offered({ contextLength: 100_000_000 }) })?.contextLength, 1_000_000);
  });
});
