import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByteBudget } from './byte-budget.ts';

describe('byte budget', () => {
  const budgetOf = (mostBytes: number, mostBytesPerPeer: number) => {
    const budget = new ByteBudget({ mostBytes, mostBytesPerPeer });
    const cut: string[] = [];
    return { cut, hold: (peer: string, name: string) => budget.hold(peer, () => cut.push(name)) };
  };

  it('cuts who holds most when all together hold too much, not who comes last', () => {
    const { cut, hold } = budgetOf(100, 90);
    hold('stranger', 'large')(60);
    hold('stranger', 'small')(20);
    const honest = hold('honest', 'honest');
    honest(15);
    assert.deepEqual(cut, []);
    honest(30);
    assert.deepEqual(cut, ['large']);
    honest(70);
    assert.deepEqual(cut, ['large']);
  });

  it('cuts the largest of a peer that has more than its share, as often as that is so', () => {
    const { cut, hold } = budgetOf(1_000, 50);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => hold('stranger', name));
    a?.(20);
    b?.(30);
    assert.deepEqual(cut, []);
    c?.(10);
    assert.deepEqual(cut, ['b']);
    c?.(60);
    assert.deepEqual(cut, ['b', 'c']);
  });

  it('forgets what is held no more', () => {
    const { cut, hold } = budgetOf(100, 100);
    for (let at = 0; at < 10; at += 1) {
      const held = hold(`peer-${at}`, `${at}`);
      held(90);
      held(0);
    }
    assert.deepEqual(cut, []);
  });
});
