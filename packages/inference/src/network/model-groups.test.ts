import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { offeredModel } from '../test/offers.ts';
import type { OfferedModel } from './frame.ts';
import { type ModelGroup, modelGroups } from './model-groups.ts';
import { bindNames, isModelName } from './model-name.ts';

const digest = (digit: string) => digit.repeat(64);
const worker = (peer: string, models: readonly Partial<OfferedModel>[]) => ({
  peer,
  offer: { models: models.map(offeredModel) },
});
const weigh = () => 1;
const { name, architecture, quantisation, sizeBytes, parameters, engine, contextLength } = offeredModel();
const right = { name, architecture, quantisation, sizeBytes, parameters, engine, contextLength };

describe('model groups', () => {
  it('puts those together that have the same file and the same vocabulary', () => {
    const [one, two] = [{ sha256: digest('1') }, { sha256: digest('2') }];
    const liar = worker('liar', [{ ...two, vocabularySha256: digest('f') }]);
    const groups = modelGroups([worker('a', [one, two]), worker('b', [two]), liar], { weigh });
    const found = groups.map(({ sha256, peers, weight }) => `${sha256[0]} ${peers} ${weight}`);
    assert.deepEqual(found, ['2 a,b 2', '1 a 1', '2 liar 1']);
  });

  it('shows of a file what most say, whatever one of them says; each has its own context', () => {
    const texts = { name: 'evil', architecture: 'x', engine: 'y', quantisation: 'z' };
    for (const lie of [texts, { contextLength: 1 }, { sizeBytes: 0, parameters: 0 }]) {
      const [group] = modelGroups([worker('liar', [lie]), worker('a', [{}]), worker('b', [{}])], { weigh });
      assert.deepEqual(group?.model, right);
    }
    const [group] = modelGroups([worker('large', [{ contextLength: 9_000 }]), worker('a', [{}])], { weigh });
    assert.equal(group?.model.contextLength, 9_000);
  });

  it('gives newcomers no say beside those in good standing, and strangers and the quarantined no place', () => {
    const newcomers = Array.from({ length: 50 }, (_, i) => worker(`new${i}`, [{ name: 'evil', contextLength: 9_999 }]));
    const trust = (peer: string) => (peer.startsWith('new') ? 0.5 : 1);
    const [group] = modelGroups([...newcomers, worker('a', [{}])], { weigh: trust });
    assert.deepEqual(group?.model, right);
    assert.deepEqual([group?.peers.length, group?.weight], [51, 26]);
    assert.equal(modelGroups(newcomers, { weigh: trust })[0]?.name, 'evil');
    assert.deepEqual(modelGroups(newcomers, { weigh: () => 0 }), []);
  });

  it('is called as it was as long as somebody says so, however many newcomers come', () => {
    const newcomers = Array.from({ length: 50 }, (_, i) => worker(`n${i}`, [{ name: 'evil' }]));
    const nameOf = () => 'small-chat';
    assert.equal(modelGroups([...newcomers, worker('a', [{}])], { weigh, nameOf })[0]?.name, 'small-chat');
    assert.equal(modelGroups(newcomers, { weigh, nameOf })[0]?.name, 'evil');
  });

  it('counts a worker once that lists a file again and again', () => {
    const again = Array.from({ length: 64 }, () => ({ name: 'evil' }));
    const [group] = modelGroups([worker('liar', again), worker('a', [{}]), worker('b', [{}])], { weigh });
    assert.deepEqual([group?.name, group?.peers.length], ['small-chat', 3]);
  });

  it('takes no name that cannot be one', () => {
    const hostile = worker('liar', [{ name: '../../etc/passwd' }]);
    const groups = modelGroups([hostile, { ...hostile, peer: 'other' }, worker('a', [{}])], { weigh });
    assert.equal(groups[0]?.name, 'small-chat');
    assert.equal(modelGroups([hostile], { weigh })[0]?.name, '');
  });
});

describe('names of models', () => {
  it('are safe to stand anywhere', () => {
    for (const name of ['llama', 'Qwen2.5-0.5B-Instruct-Q8_0.gguf', 'hf:org/repo:Q4_K_M', 'a/b', 'x'.repeat(128)])
      assert.ok(isModelName(name), name);
    const hostile = ['', ' ', 'a b', '../x', 'a/../b', 'a..b', '/a', 'a/', 'a//b', '-rf', '.x', 'a\n', 'a\u0000', 'ä'];
    for (const name of [...hostile, 'x'.repeat(129), '<b>', '$(x)', "a'", 'a@123', '__proto__', '\u202egpt'])
      assert.ok(!isModelName(name), JSON.stringify(name));
  });

  const group = (sha256: string, name: string, weight: number): ModelGroup => ({
    ...{ sha256: digest(sha256), vocabularySha256: digest('b'), name, model: { ...right, name }, weight },
    peers: Array.from({ length: Math.ceil(weight) }, (_, i) => `${sha256}${i}`),
  });
  const none: ReadonlyMap<string, string> = new Map();
  const bind = (
    groups: readonly ModelGroup[],
    { pinned = none, bound = new Map(), nowMs = 0 }: Partial<Parameters<typeof bindNames>[1]> = {},
  ) => {
    const { models, bound: next } = bindNames(groups, { pinned, bound, nowMs });
    return { ids: Object.fromEntries([...models].map(([id, { sha256 }]) => [id, sha256[0]])), bound: next };
  };

  it('mean the file that most trusted workers have; another one says which it is', () => {
    const { ids, bound } = bind([group('1', 'chat', 2), group('2', 'chat', 3), group('3', 'code', 0.5)]);
    assert.deepEqual(ids, { chat: '2', 'chat@111111111111': '1', code: '3' });
    assert.deepEqual([...bound.keys()].sort(), ['chat', 'code']);
  });

  it('go on to mean the same file until another one has twice the workers', () => {
    const { bound } = bind([group('1', 'chat', 2)]);
    assert.equal(bind([group('1', 'chat', 2), group('2', 'chat', 3)], { bound }).ids.chat, '1');
    assert.equal(bind([group('1', 'chat', 2), group('2', 'chat', 4)], { bound }).ids.chat, '2');
  });

  it('are kept for workers that are away, as many as they were, and for no longer than two minutes', () => {
    const { bound } = bind([group('1', 'chat', 1)]);
    // A stranger's file of that name, while the only worker restarts: it is served, and not by that name.
    const away = bind([group('2', 'chat', 0.5)], { bound, nowMs: 100_000 });
    assert.deepEqual(away.ids, { 'chat@222222222222': '2' });
    const back = bind([group('1', 'chat', 0.5), group('2', 'chat', 1)], { bound: away.bound, nowMs: 110_000 });
    assert.equal(back.ids.chat, '1');
    const late = bind([group('2', 'chat', 0.5)], { bound: away.bound, nowMs: 121_000 });
    assert.equal(late.ids.chat, '2');
    // Most of many are away.
    const many = bind([group('1', 'chat', 10)]);
    const few = bind([group('1', 'chat', 1), group('2', 'chat', 15)], { bound: many.bound, nowMs: 60_000 });
    assert.equal(few.ids.chat, '1');
    assert.equal(bind([group('1', 'chat', 1)], { bound: few.bound, nowMs: 130_000 }).bound.get('chat')?.weight, 1);
  });

  it('are kept for so many who are away at most', () => {
    const numbered = (i: number) => ({ ...group('1', `m${i}`, 1), sha256: i.toString(16).padStart(64, '0') });
    const { bound } = bind(Array.from({ length: 20_000 }, (_, i) => numbered(i)));
    assert.equal(bind([], { bound, nowMs: 1 }).bound.size, 10_000);
  });

  it('mean what the operator says, also where nobody has that file', () => {
    const pinned = new Map([['chat', digest('1')]]);
    const { ids } = bind([group('1', 'other', 1), group('2', 'chat', 9)], { pinned });
    assert.deepEqual(ids, { chat: '1', 'chat@222222222222': '2', other: '1' });
    assert.deepEqual(bind([group('2', 'chat', 9)], { pinned }).ids, { 'chat@222222222222': '2' });
  });

  it('are not given to who has no name, nor twice to one file, whose vocabulary stays what it was', () => {
    assert.deepEqual(bind([group('1', '', 3)]).ids, {});
    const liar = { ...group('1', 'chat', 1), vocabularySha256: digest('f') };
    const [two, few] = [group('1', 'chat', 2), group('1', 'chat', 0.8)];
    const { bound } = bindNames([few], { pinned: none, bound: new Map(), nowMs: 0 });
    for (const groups of [
      [liar, two],
      [two, liar],
      [liar, few],
    ]) {
      const { models } = bindNames(groups, { pinned: none, bound, nowMs: 0 });
      assert.deepEqual([...models.keys()], ['chat']);
      assert.equal(models.get('chat')?.vocabularySha256, digest('b'));
    }
    const alone = bindNames([liar], { pinned: none, bound, nowMs: 0 });
    assert.deepEqual([...alone.models.keys()], ['chat@111111111111']);
    assert.equal(alone.bound.get('chat')?.vocabularySha256, digest('b'));
  });
});
