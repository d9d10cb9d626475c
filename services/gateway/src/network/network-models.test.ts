// Models of the network come, go and come back; a lying vocabulary is found out; strangers cannot fill the list or take names.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Engine, Vocabulary } from '@strata/engine';
import type { ModelGroup } from '@strata/inference';
import { pino } from 'pino';
import { Admission } from '../admission.ts';
import type { Backend } from '../backend.ts';
import { Models } from '../models.ts';
import { NetworkModels, type NetworkModelsOptions } from './network-models.ts';

const digest = (n: number) => n.toString(16).padStart(64, '0');

function groupOf(n: number, name: string, peers: readonly string[]): ModelGroup {
  const sha256 = digest(n);
  const vocabularySha256 = digest(1_000 + n);
  const model = {
    ...{ name, sha256, vocabularySha256, templateSha256: digest(7), architecture: 'a', quantisation: 'F16' },
    ...{ sizeBytes: 1, parameters: 1, contextLength: 512, vocabularySize: 300, longestToken: 8, slots: 2 },
    ...{ prefillTokensPerSecond: 1, decodeTokensPerSecond: 1, engine: 'e' },
  };
  return { sha256, vocabularySha256, name, model, peers };
}

/** One token for each byte. */
const bytewise: Vocabulary = {
  tokenize: async (text) => [...Buffer.from(text)],
  detokenize: async () => '',
  render: async ({ messages }) => [...Buffer.from(String(messages[0]?.content ?? ''))],
};

function scene(options: Partial<NetworkModelsOptions> = {}, own: readonly string[] = []) {
  const admission = new Admission({ places: 1, queue: 0 });
  const models = new Models(own.map((id) => ({ id, backend: {} as Backend, created: 0, admission })));
  let groups: readonly ModelGroup[] = [];
  let vocabulary = bytewise;
  const slots = { slots: 2, refresh: () => {} };
  const lies: string[] = [];
  const ended: string[] = [];
  const network = new NetworkModels(
    { most: 3, pins: new Map(), queue: 1, graceMs: 0, ...options },
    {
      ...{ models, logger: pino({ level: 'silent' }), now: () => new Date(0) },
      groups: () => groups,
      weigh: (peer) => (peer.startsWith('stranger') ? 0 : 1),
      vocabularyOf: () => vocabulary,
      openModel: (group) => {
        const engine = { [Symbol.asyncDispose]: async () => void ended.push(group().name) };
        return { engine: engine as unknown as Engine, fleet: slots };
      },
      onLie: (peers, reason) => void lies.push(`${peers.join()}: ${reason}`),
    },
  );
  return {
    ...{ models, network, lies, ended, slots },
    ids: () => models.list().map(({ id }) => id),
    speak: (other: Vocabulary) => {
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
    const { offer, ids, models, slots, ended, network } = scene();
    await using _network = network;
    await offer(groupOf(1, 'm', ['stranger']));
    assert.deepEqual(ids(), []);
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
    const { offer, ids, network } = scene({ graceMs: 60_000 });
    await using _network = network;
    await offer(groupOf(1, 'm', ['a']));
    await offer();
    assert.deepEqual(ids(), ['m']);
  });

  it('with a vocabulary that cannot be theirs are refused, and who offers them is told of', async () => {
    for (const lie of [
      { ...bytewise, tokenize: async () => [1] },
      { ...bytewise, tokenize: async () => [] },
      { ...bytewise, tokenize: async (text: string) => [...Buffer.from(text), 300] },
      { ...bytewise, render: async () => Array.from({ length: 100 }, () => 5_000_000) },
    ]) {
      const { offer, ids, lies, speak, network } = scene();
      await using _network = network;
      speak(lie);
      await offer(groupOf(1, 'm', ['a', 'b']));
      speak(bytewise);
      await offer(groupOf(1, 'm', ['a', 'b']));
      assert.deepEqual(ids(), []);
      assert.match(lies.join(), /^a,b: the vocabulary /);
    }
  });

  it('whose vocabulary nobody gives are no lie', async () => {
    const { offer, ids, lies, speak, network } = scene();
    await using _network = network;
    speak({ ...bytewise, tokenize: () => Promise.reject(new Error('no worker gives it')) });
    await offer(groupOf(1, 'm', ['a']));
    assert.deepEqual([ids(), lies], [[], []]);
  });

  it('are so many at most; those that the operator pinned come besides', async () => {
    const pinned = groupOf(99, 'wanted', ['a']);
    const { offer, ids, network } = scene({ pins: new Map([['mine', pinned.sha256]]) });
    await using _network = network;
    const many = Array.from({ length: 20 }, (_, i) => groupOf(i + 1, `m${i}`, ['a']));
    for (let round = 0; round < 4; round += 1) await offer(...many, pinned);
    assert.equal(ids().filter((id) => id !== 'mine').length, 3);
    assert.ok(ids().includes('mine'));
  });

  it("leave names of the gateway's own models alone", async () => {
    const { offer, ids, network } = scene({}, ['m']);
    await using _network = network;
    await offer(groupOf(1, 'm', ['a']));
    assert.deepEqual(ids(), ['m', `m@${digest(1).slice(0, 12)}`]);
  });
});
