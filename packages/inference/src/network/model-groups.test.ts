import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { offeredModel } from '../test/offers.ts';
import type { OfferedModel } from './frame.ts';
import { type ModelGroup, modelGroups } from './model-groups.ts';
import { bindNames, isModelName } from './model-name.ts';

const digest = (digit: string) => digit.repeat(64);
const worker = (peer: string, models: readonly Partial<OfferedModel>[], isConnected = true) => ({
  peer,
  isConnected,
  offer: { models: models.map(offeredModel) },
});

describe('model groups', () => {
  it('puts those together that have the same file and the same vocabulary', () => {
    const groups = modelGroups([
      worker('a', [{ sha256: digest('1') }, { sha256: digest('2') }]),
      worker('b', [{ sha256: digest('2') }]),
      worker('liar', [{ sha256: digest('2'), vocabularySha256: digest('f') }]),
    ]);
    assert.deepEqual(
      groups.map(({ sha256, peers }) => [sha256[0], peers]),
      [
        ['2', ['a', 'b']],
        ['1', ['a']],
        ['2', ['liar']],
      ],
    );
  });

  it('believes of a file what most say, whatever one of them says', () => {
    const lies: readonly Partial<OfferedModel>[] = [
      { name: 'evil' },
      { contextLength: 100_000_000 },
      { contextLength: 1 },
      { longestToken: 100_000 },
      { slots: 10_000, decodeTokensPerSecond: 1e9, prefillTokensPerSecond: 1e9 },
      { architecture: 'x', engine: 'y', quantisation: 'z', templateSha256: digest('e') },
      { sizeBytes: 0, parameters: 0, vocabularySize: 1 },
    ];
    for (const lie of lies) {
      const [group] = modelGroups([worker('liar', [lie]), worker('a', [{}]), worker('b', [{}])]);
      assert.deepEqual(group?.model, offeredModel());
    }
  });

  it('gives strangers no say where somebody is connected', () => {
    const strangers = Array.from({ length: 50 }, (_, i) => worker(`s${i}`, [{ name: 'evil', slots: 9_999 }], false));
    const [group] = modelGroups([...strangers, worker('a', [{}])]);
    assert.deepEqual(group?.model, offeredModel());
    assert.equal(group.peers.length, 51);
    assert.equal(modelGroups(strangers)[0]?.name, 'evil');
  });

  it('counts a worker once that lists a file again and again', () => {
    const again = Array.from({ length: 64 }, () => ({ name: 'evil' }));
    const [group] = modelGroups([worker('liar', again), worker('a', [{}]), worker('b', [{}])]);
    assert.deepEqual([group?.name, group?.peers.length], ['small-chat', 3]);
  });

  it('takes no name that cannot be one', () => {
    const hostile = worker('liar', [{ name: '../../etc/passwd' }]);
    assert.equal(modelGroups([hostile, { ...hostile, peer: 'other' }, worker('a', [{}])])[0]?.name, 'small-chat');
    assert.equal(modelGroups([hostile])[0]?.name, '');
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

  const group = (sha256: string, name: string, workers: number): ModelGroup => ({
    ...{ sha256: digest(sha256), vocabularySha256: digest('b'), name },
    model: offeredModel({ sha256: digest(sha256), name }),
    peers: Array.from({ length: workers }, (_, i) => `${sha256}${i}`),
  });
  const none: ReadonlyMap<string, string> = new Map();
  const bind = (
    groups: readonly ModelGroup[],
    { pinned = none, bound = none, weigh = () => 1 }: Partial<Parameters<typeof bindNames>[1]> = {},
  ) => {
    const { models, bound: next } = bindNames(groups, { pinned, bound, weigh });
    return {
      ids: Object.fromEntries([...models].map(([id, { sha256 }]) => [id, sha256[0]])),
      next: Object.fromEntries([...next].map(([name, sha256]) => [name, sha256[0]])),
    };
  };

  it('mean the file that most trusted workers have; another one says which it is', () => {
    assert.deepEqual(bind([group('1', 'chat', 2), group('2', 'chat', 3), group('3', 'code', 1)]), {
      ids: { chat: '2', 'chat@111111111111': '1', code: '3' },
      next: { chat: '2', code: '3' },
    });
    const weigh = (peer: string) => (peer.startsWith('2') ? 0 : 1);
    assert.deepEqual(bind([group('1', 'chat', 1), group('2', 'chat', 900)], { weigh }).ids, { chat: '1' });
  });

  it('go on to mean the same file until another one has twice the workers', () => {
    const bound = new Map([['chat', digest('1')]]);
    assert.equal(bind([group('1', 'chat', 2), group('2', 'chat', 3)], { bound }).ids.chat, '1');
    assert.equal(bind([group('1', 'chat', 2), group('2', 'chat', 4)], { bound }).ids.chat, '2');
    // All of its workers are away for a moment.
    const weigh = (peer: string) => (peer.startsWith('1') ? 0 : 1);
    assert.equal(bind([group('1', 'chat', 2), group('2', 'chat', 1)], { bound, weigh }).ids.chat, '1');
    assert.equal(bind([group('2', 'chat', 1)], { bound }).ids.chat, '2');
  });

  it('mean what the operator says, also where nobody has that file', () => {
    const pinned = new Map([['chat', digest('1')]]);
    assert.deepEqual(bind([group('1', 'other', 1), group('2', 'chat', 9)], { pinned }).ids, {
      chat: '1',
      'chat@222222222222': '2',
      other: '1',
    });
    assert.deepEqual(bind([group('2', 'chat', 9)], { pinned }).ids, { 'chat@222222222222': '2' });
  });

  it('are not given to who is not there, nor to who has no name, nor twice to one file', () => {
    assert.deepEqual(bind([group('1', 'chat', 3)], { weigh: () => 0 }).ids, {});
    assert.deepEqual(bind([group('1', '', 3)]).ids, {});
    const liar = { ...group('1', 'chat', 1), vocabularySha256: digest('f') };
    for (const groups of [
      [liar, group('1', 'chat', 2)],
      [group('1', 'chat', 2), liar],
    ]) {
      const { models } = bindNames(groups, { pinned: none, bound: none, weigh: () => 1 });
      assert.deepEqual([...models.keys()], ['chat']);
      assert.equal(models.get('chat')?.vocabularySha256, digest('b'));
    }
  });
});
